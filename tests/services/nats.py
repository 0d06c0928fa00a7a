"""NATS with JetStream: one server, or a cluster of three."""

import json
import urllib.request
from pathlib import Path

from network import free_port
from service import TOOLS, Service

PROGRAM = TOOLS / "services" / "bin" / "nats-server"


class Nats(Service):
    """A server."""

    def __init__(self, name: str, folder: Path, ip: str) -> None:
        super().__init__(name, folder, ip)
        self.nodes: list[Nats] = [self]
        self.port = self.monitor_port = self.route_port = 0

    def prepare(self) -> None:
        # The server's own format takes JSON.
        (self.folder / "nats.conf").write_text(json.dumps(self.settings(), indent=2))

    def settings(self) -> dict[str, object]:
        settings: dict[str, object] = {
            "server_name": self.name,
            "listen": f"{self.ip}:{self.port}",
            "http": f"{self.ip}:{self.monitor_port}",
            "max_payload": 8 << 20,
            "jetstream": {
                "store_dir": str(self.folder / "data"),
                "max_memory_store": 256 << 20,
                "max_file_store": 8 << 30,
            },
        }
        if len(self.nodes) > 1:
            settings["cluster"] = {
                "name": "trapline-tests",
                "listen": f"{self.ip}:{self.route_port}",
                "routes": [f"nats://{node.ip}:{node.route_port}" for node in self.nodes],
            }
        return settings

    def command(self) -> list[str]:
        return [str(PROGRAM), "-c", "nats.conf"]

    def ready(self) -> bool:
        """It is healthy, which in a cluster takes a leader."""
        url = f"http://{self.ip}:{self.monitor_port}/healthz"
        with urllib.request.urlopen(url, timeout=1) as answer:
            return int(answer.status) == 200


def cluster(folder: Path, ips: list[str]) -> list[Nats]:
    """As many servers as there are addresses."""
    nodes = [Nats(f"nats-{at}", folder, ip) for at, ip in enumerate(ips, 1)]
    for node in nodes:
        node.nodes = nodes
        node.port = free_port([node.ip], 4222)
        node.monitor_port = free_port([node.ip], 8222)
        node.route_port = free_port([node.ip], 6222)
    return nodes


def address(nodes: list[Nats]) -> str:
    return "nats://" + ",".join(f"{node.ip}:{node.port}" for node in nodes)

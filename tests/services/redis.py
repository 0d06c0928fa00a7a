"""Redis: one server, or a Redis Cluster of three masters."""

import socket
from pathlib import Path

from network import free_port
from service import Service

SLOTS = 16384
BUS = 10000


class Redis(Service):
    """A server that keeps nothing on disk but its place in the cluster."""

    def __init__(self, name: str, folder: Path, ip: str) -> None:
        super().__init__(name, folder, ip)
        self.nodes: list[Redis] = [self]
        self.port = 0

    def command(self) -> list[str]:
        words = ["redis-server", "--bind", self.ip, "--port", str(self.port)]
        words += ["--save", "", "--appendonly", "no"]
        # Clients in another network namespace come from addresses that are not the loopback's.
        words += ["--protected-mode", "no"]
        if len(self.nodes) > 1:
            words += ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
        return words

    def ready(self) -> bool:
        """It answers; in a cluster it has its slots, and knows who has the others."""
        if len(self.nodes) == 1:
            return self.ask("PING").startswith("+PONG")
        place = self.nodes.index(self)
        first, end = (SLOTS * at // len(self.nodes) for at in (place, place + 1))
        # An error when it is so already.
        self.ask(f"CLUSTER ADDSLOTSRANGE {first} {end - 1}")
        for node in self.nodes:
            self.ask(f"CLUSTER MEET {node.ip} {node.port}")
        info = self.ask("CLUSTER INFO")
        return "cluster_state:ok" in info and f"cluster_slots_assigned:{SLOTS}" in info

    def ask(self, command: str) -> str:
        """The first part of an answer."""
        with socket.create_connection((self.ip, self.port), timeout=1) as connection:
            connection.sendall(f"{command}\r\n".encode())
            return connection.recv(4096).decode()


def cluster(folder: Path, ips: list[str]) -> list[Redis]:
    """As many servers as there are addresses."""
    nodes = [Redis(f"redis-{at}", folder, ip) for at, ip in enumerate(ips, 1)]
    for node in nodes:
        node.nodes = nodes
        node.port = free_port([node.ip], 6379, BUS)
    return nodes


def address(nodes: list[Redis]) -> str:
    hosts = ",".join(f"{node.ip}:{node.port}" for node in nodes)
    return f"redis://{hosts}" + ("?cluster=true" if len(nodes) > 1 else "")

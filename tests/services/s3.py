"""SeaweedFS as the S3 server: master, volume, filer and gateway in one process."""

import json
import urllib.error
import urllib.request
from pathlib import Path

from network import free_ports
from service import TOOLS, Service

BUCKET, KEY, SECRET, REGION = "mail", "test", "testsecret", "us-east-1"
# Each part has a second port for gRPC, so much higher. Said aloud, it becomes part of the master's
# name, and the master does not find itself among the candidates for leader.
GRPC = 10000
PARTS = ("master", "volume", "filer", "s3")


class Seaweed(Service):
    """A server with one bucket."""

    def __init__(self, folder: Path, ip: str) -> None:
        super().__init__("s3-1", folder, ip)
        # Each part also listens on the local host and at a path that is made of its port, and
        # prefers these. Servers with a port in common would find each other there, whatever their
        # addresses.
        ports = free_ports([ip, "127.0.0.1"], len(PARTS), GRPC)
        self.ports = dict(zip(PARTS, ports, strict=True))
        self.litter = [
            Path(f"/tmp/seaweedfs-{part}-grpc-{port + GRPC}.sock")
            for part, port in self.ports.items()
        ]

    def prepare(self) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        credentials = [{"accessKey": KEY, "secretKey": SECRET}]
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        identity = {"name": "tests", "credentials": credentials, "actions": actions}
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))

    def command(self) -> list[str]:
        return [
            str(TOOLS / "services" / "bin" / "weed"),
            "-logtostderr=true",
            "server",
            f"-ip={self.ip}",
            f"-ip.bind={self.ip}",
            "-dir=data",
            "-master.volumeSizeLimitMB=64",
            "-master.telemetry=false",
            "-master.electionTimeout=1s",
            "-volume.max=40",
            "-volume.preStopSeconds=0",
            "-filer",
            "-filer.localSocket=filer.sock",
            "-s3",
            "-s3.config=s3.json",
            "-s3.localSocket=s3.sock",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            *(f"-{part}.port={port}" for part, port in self.ports.items()),
        ]

    def ready(self) -> bool:
        """The bucket is there, a file can be stored, and the gateway answers."""
        return (
            self.status("filer", f"/buckets/{BUCKET}/", "POST") in (201, 409)
            and self.status("filer", "/ready", "PUT") == 201
            and self.status("s3", "/", "GET") in (200, 403)
        )

    def status(self, part: str, path: str, method: str) -> int:
        url = f"http://{self.ip}:{self.ports[part]}{path}"
        body = b"ready" if method == "PUT" else None
        request = urllib.request.Request(url, body, method=method)
        try:
            with urllib.request.urlopen(request, timeout=1) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def address(self) -> str:
        endpoint = f"http://{self.ip}:{self.ports['s3']}"
        return f"s3://{BUCKET}?endpoint={endpoint}&region={REGION}&key={KEY}&secret={SECRET}"

"""The two systems: how each starts, stops, and is asked for the same things."""

import os
import secrets
import shutil
import signal
import socket
import string
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import build, machine
from .rest import Failed, Http, query

START_SECONDS = 30
STOP_SECONDS = 40


@dataclass(frozen=True)
class Inbox:
    id: str
    address: str
    username: str
    password: str


class Server:
    """A system under measurement in a folder of its own; a context manager that leaves nothing."""

    name = ""
    token: str | None = None

    def __init__(self) -> None:
        build.WORK.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=build.WORK))
        self.data = self.folder / "data"
        self.data.mkdir()
        self.http_port, self.smtp_port = free_port(), free_port()
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str] | None:
        """The process's environment; this one's when there is none."""
        return None

    def is_ready(self) -> bool:
        raise NotImplementedError

    def __enter__(self) -> "Server":
        os.sync()
        try:
            with open(self.folder / "log", "wb") as log:
                self.process = subprocess.Popen(
                    self.command(),
                    env=self.environment(),
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    start_new_session=True,
                )
            self._await_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        """Ends the process in order, so that everything is on disk."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _await_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.is_ready():
                    return
            except (OSError, Failed):
                pass
            time.sleep(0.05)
        log = (self.folder / "log").read_text(errors="replace")[-2000:]
        raise Failed(f"{self.name} did not start: {log}")

    def http(self) -> Http:
        return Http(self.http_port, self.token)

    def usage(self) -> machine.Usage:
        return machine.usage(self.process.pid)


class Trapline(Server):
    name = "trapline"
    refuses = False

    def __init__(self, durability: str = "power") -> None:
        super().__init__()
        self.durability = durability
        self.token = api_key()

    def environment(self) -> dict[str, str]:
        # By variable, which builds that do not know it ignore.
        # With 20,000 descriptors fewer connections of SMTP leave HTTP the 10,000 that are measured.
        settings = {"TRAPLINE_INBOX_RATE": "0", "TRAPLINE_SMTP_CONNECTIONS": "6000"}
        return dict(os.environ) | settings

    def command(self) -> list[str]:
        return [
            *(str(build.TRAPLINE_BINARY), "serve"),
            *("--http", f"127.0.0.1:{self.http_port}", "--smtp", f"127.0.0.1:{self.smtp_port}"),
            *("--data", str(self.data), "--api-key", self.token),
            *("--durability", self.durability),
        ]

    def is_ready(self) -> bool:
        http = self.http()
        ready = http.exchange(http.bytes_of("GET", "/api/health")).status == 200
        http.close()
        return ready

    def inboxes(
        self, count: int, max_messages: int = 10_000, token: str | None = None
    ) -> list[Inbox]:
        http = Http(self.http_port, token or self.token)
        made = create_inboxes(http, count, max_messages)
        http.close()
        return made

    def new_team(self, name: str) -> str:
        """A key of a team that is made beside the running server."""

        def run(*arguments: str) -> str:
            command = [str(build.TRAPLINE_BINARY), *arguments, "--data", str(self.data)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        return run("key", "create", "--team", run("team", "create", name))

    def list_path(self, inbox: Inbox, **parameters: object) -> str:
        return query(f"/api/inboxes/{inbox.id}/messages", **parameters)

    def search_path(self, inbox: Inbox, text: str) -> str:
        return self.list_path(inbox, q=text, limit=50)

    def raw_path(self, message: dict) -> str:
        return f"/api/messages/{message['id']}/raw"


class Mailpit(Server):
    name = "mailpit"

    def __init__(self, durability: str = "") -> None:
        super().__init__()

    def command(self) -> list[str]:
        return [
            *(str(build.MAILPIT_BINARY), "--quiet", "--max", "0"),
            *("--listen", f"127.0.0.1:{self.http_port}", "--smtp", f"127.0.0.1:{self.smtp_port}"),
            *("--pop3", f"127.0.0.1:{free_port()}", "--database", str(self.data / "mailpit.db")),
            *("--smtp-auth-accept-any", "--smtp-auth-allow-insecure"),
            # Both would only cost it time: a look-up for each connection, and a call home.
            *("--smtp-disable-rdns", "--disable-version-check"),
        ]

    def is_ready(self) -> bool:
        http = self.http()
        ready = http.exchange(http.bytes_of("GET", "/readyz")).status == 200
        http.close()
        return ready

    def inboxes(self, count: int, max_messages: int = 0) -> list[Inbox]:
        """It has one box for all; these are as many senders' logins and recipients."""
        names = [f"inbox-{number}" for number in range(count)]
        return [Inbox("", f"{name}@mailpit.example", name, "password") for name in names]

    def list_path(self, _inbox: Inbox, limit: int, page: int = 1) -> str:
        return query("/api/v1/messages", limit=limit, start=(page - 1) * limit)

    def search_path(self, _inbox: Inbox, text: str) -> str:
        return query("/api/v1/search", query=text, limit=50)

    def raw_path(self, message: dict) -> str:
        return f"/api/v1/message/{message['ID']}/raw"


SYSTEMS = {"mailpit": Mailpit, "trapline": Trapline}


def api_key() -> str:
    base62 = string.ascii_letters + string.digits
    return "tl_" + "".join(secrets.choice(base62) for _ in range(32))


def create_inboxes(http: Http, count: int, max_messages: int) -> list[Inbox]:
    made = []
    for number in range(count):
        body = {"name": f"Bench {number}", "maxMessages": max_messages}
        inbox = http.json("POST", "/api/inboxes", body)
        smtp = inbox["smtp"]
        made.append(Inbox(inbox["id"], inbox["address"], smtp["username"], smtp["password"]))
    return made


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

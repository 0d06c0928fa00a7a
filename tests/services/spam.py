"""Spam engines: SpamAssassin's spamd and rspamd, without a network and without what they learn, so that the same mail
has the same score each time."""

import contextlib
import socket
import time
from pathlib import Path

from network import free_port
from service import PAUSE, Service

# Nobody answers there, at once.
NO_NAME_SERVER = "127.0.0.1:1"

# What learns or asks others, and so may come to another score the next time.
SPAMD_OFF = ("use_bayes 0", "use_txrep 0", "use_pyzor 0", "use_razor2 0", "use_dcc 0")

# What asks others, or remembers: all of it is off.
RSPAMD_OFF = (
    "antivirus arc asn dkim dkim_signing dmarc fuzzy_check greylist hfilter history_redis milter_headers mx_check neural "
    "p0f phishing ratelimit rbl replies reputation spf surbl url_redirector"
).split()


class Engine(Service):
    """A server with children that do the work."""

    usual_port = 0
    # What it is asked, and what it says then.
    ping = pong = b""

    def __init__(self, name: str, folder: Path, ip: str) -> None:
        super().__init__(name, folder, ip)
        self.port = free_port([ip], self.usual_port)

    def ready(self) -> bool:
        with self.connection() as connection:
            connection.sendall(self.ping)
            return self.pong in connection.recv(1000)

    def kill(self) -> None:
        super().kill()
        # Its children end a moment later, and take connections until then.
        with contextlib.suppress(OSError):
            while True:
                self.connection().close()
                time.sleep(PAUSE)

    def connection(self) -> socket.socket:
        return socket.create_connection((self.ip, self.port), timeout=1)

    def address(self) -> str:
        return f"{self.name}://{self.ip}:{self.port}"


class Spamd(Engine):
    """spamd with two children, without look-ups (-L) and without settings of users (-x)."""

    usual_port = 783
    ping, pong = b"PING SPAMC/1.5\r\n\r\n", b"PONG"

    def command(self) -> list[str]:
        words = ["spamd", "-L", "-x", "--max-children", "2", "--min-children", "2", "--syslog", "stderr"]
        words += ["--listen", f"{self.ip}:{self.port}", "--allowed-ips", "127.0.0.0/8"]
        return [*words, "--username", "nobody", *(f"--cf={line}" for line in SPAMD_OFF)]


class Rspamd(Engine):
    """rspamd with one worker for scans, and none for anything else."""

    usual_port = 11333
    ping, pong = b"GET /ping HTTP/1.0\r\n\r\n", b"pong"

    def command(self) -> list[str]:
        folders = {name: str(self.folder) for name in ("LOCAL_CONFDIR", "DBDIR", "RUNDIR", "LOGDIR")}
        words = ["rspamd", "--no-fork", "--insecure", "--config", "/etc/rspamd/rspamd.conf"]
        return words + [f"--var={name}={value}" for name, value in folders.items()]

    def prepare(self) -> None:
        local = self.folder / "local.d"
        local.mkdir(exist_ok=True)
        scans = f'bind_socket = "{self.ip}:{self.port}";\ncount = 1;\n'
        name_server = f'dns {{ nameserver = ["{NO_NAME_SERVER}"]; timeout = 0.1s; retransmits = 1; }}\n'
        files = {
            "worker-normal.inc": scans,
            "worker-controller.inc": "enabled = false;\n",
            "worker-proxy.inc": "enabled = false;\n",
            "worker-fuzzy.inc": "enabled = false;\n",
            "options.inc": f"{name_server}control_socket = \"{self.folder}/control\";\n",
            "logging.inc": 'type = "console";\n',
            "classifier-bayes.conf": "enabled = false;\n",
            **{f"{module}.conf": "enabled = false;\n" for module in RSPAMD_OFF},
        }
        for name, text in files.items():
            (local / name).write_text(text)

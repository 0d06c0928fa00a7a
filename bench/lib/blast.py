"""Runs smtpblast."""

import json
import subprocess
from collections.abc import Iterable

from . import build
from .rest import Failed
from .servers import Inbox, Server


def blast(server: Server, *options: object) -> dict:
    """One run against a server; the parsed report."""
    command = [
        *(str(build.SMTPBLAST_BINARY), f"127.0.0.1:{server.smtp_port}"),
        *("--json", "--allow-errors", "--pid", str(server.process.pid)),
        *map(str, options),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"smtpblast: {done.stderr[-1000:]}")
    return json.loads(done.stdout)


def whole(report: dict, expected: int) -> dict:
    """Insists that every message was accepted, where later steps count on it."""
    if report["accepted"] != expected or report["errors"]:
        raise Failed(f"{report['accepted']} of {expected} accepted: {report['errors']}")
    return report


def recipients(server: Server, inboxes: Iterable[Inbox]) -> list[object]:
    """Options that spread messages over inboxes by their addresses, without AUTH."""
    path = server.folder / "recipients"
    path.write_text("".join(f"{inbox.address}\n" for inbox in inboxes))
    return ["--to-file", path]


def logins(server: Server, inboxes: Iterable[Inbox]) -> list[object]:
    """Options that spread connections over inboxes by AUTH."""
    path = server.folder / "logins"
    path.write_text("".join(f"{inbox.username}:{inbox.password}\n" for inbox in inboxes))
    return ["--auth", path]

"""Addresses of this machine's own that nobody else uses, so that many runs go side by side."""

import itertools
import random
import socket
from collections.abc import Sequence

# Below the ports that Linux gives to outgoing connections.
PORTS = range(12000, 22000)
TRIES = 200


class Subnet:
    """The addresses 127.x.y.*, reserved until this process is gone."""

    def __init__(self) -> None:
        self.claim = socket.socket(socket.AF_UNIX)
        for _ in range(TRIES):
            self.prefix = f"127.{random.randint(16, 254)}.{random.randint(0, 254)}"
            try:
                # An abstract name: there is no file, and it goes with the process.
                self.claim.bind(f"\0trapline-services-{self.prefix}")
                return
            except OSError:
                continue
        raise OSError("no free addresses in 127.0.0.0/8")

    def ips(self, first: int, count: int) -> list[str]:
        return [f"{self.prefix}.{first + number}" for number in range(count)]


def free_port(ips: Sequence[str], preferred: int, distance: int = 0) -> int:
    """A port that is free at every address, and so is the one that is `distance` higher."""
    if is_pair_free(ips, preferred, distance):
        return preferred
    return free_ports(ips, 1, distance)[0]


def free_ports(ips: Sequence[str], count: int, distance: int = 0) -> list[int]:
    """As many such ports, none of which anybody is likely to choose."""
    tries = random.sample(PORTS, TRIES)
    free = (port for port in tries if is_pair_free(ips, port, distance))
    found = list(itertools.islice(free, count))
    if len(found) < count:
        raise OSError(f"no free ports at {', '.join(ips)}")
    return found


def is_pair_free(ips: Sequence[str], port: int, distance: int) -> bool:
    return all(is_free(ip, port) and is_free(ip, port + distance) for ip in ips)


def is_free(ip: str, port: int) -> bool:
    with socket.socket() as probe:
        # Somebody else's old connections are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ip, port))
        except OSError:
            return False
        return True

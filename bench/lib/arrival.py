"""When bytes arrived, by the kernel's clock and not by when this process got to run (socket(7))."""

import socket
import struct
import time

from .rest import Failed

SO_TIMESTAMPNS = 35
READ = 256 * 1024


def stamp(connection: socket.socket) -> None:
    """Asks for times of arrival on a connection."""
    connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def receive(connection: socket.socket) -> tuple[bytes, int]:
    """All that is there and the time in ns at which its last packet came.

    The kernel starts to stamp packets a moment after the first request to; now stands in until then.
    """
    data, ancillary, _, _ = connection.recvmsg(READ, 64)
    if not data:
        raise Failed("the server closed the connection")
    if not ancillary:
        return data, time.time_ns()
    seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
    return data, seconds * 1_000_000_000 + nanoseconds

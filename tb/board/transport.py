"""Byte stream to a board: a serial port, a pseudo-terminal, or a TCP connection.

A port is named by its device file (`/dev/ttyUSB0`) or by `tcp:<host>:<port>`. The stream is opened for one process
alone. All waits have a limit, so that a board that is unplugged or does not answer never blocks a run.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import socket
import stat
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from pymodels.errors import EXIT_CONFIGURATION, SanlabError

TCP = "tcp:"
"""Prefix of a port that is reached over the network."""
CONNECT_S = 5.0
"""Seconds after which a TCP connection attempt fails."""
SPEEDS: Mapping[int, int] = MappingProxyType(
    {
        int(name[1:]): value
        for name, value in vars(termios).items()
        if name[0] == "B" and name[1:].isdigit() and int(name[1:]) >= 9600
    }
)
"""Codes of the serial speeds that the operating system has, by bits per second."""
CHUNK = 1 << 16
EXAMPLE = "run.port=/dev/ttyUSB0 or run.port=tcp:localhost:4000"


class PortError(SanlabError):
    """Port that cannot be opened."""

    exit_code = EXIT_CONFIGURATION


class LineError(SanlabError):
    """Failure of an open port: it was unplugged, or it accepts or delivers nothing in time."""


class Port:
    """Open port. Bytes are sent and received in order; `close` frees the port for other processes.

    Args:
        name: Name of the port in error messages.
        descriptor: Open file descriptor, which the port owns.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)

    def send(self, data: bytes, patience_s: float) -> None:
        """Send all bytes. Raises LineError if the port is gone, or accepts nothing for `patience_s`."""
        rest = memoryview(data)
        while rest:
            written = self._write(rest)
            rest = rest[written:]
            if not written and not select.select([], [self._descriptor], [], patience_s)[1]:
                cause = f"it accepts no more bytes for {patience_s:g} s"
                raise LineError(self.name, cause, "check the cable, reset the board, and run again")

    def _write(self, data: memoryview) -> int:
        """Return the number of bytes that the port accepts at once."""
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._gone(error.strerror or str(error)) from None

    def receive(self, most: int, patience_s: float) -> bytes:
        """Return up to `most` bytes: those that have arrived, or the first to arrive within `patience_s`.

        The result is empty if nothing arrives in time. Raises LineError if the port is gone.
        """
        if not select.select([self._descriptor], [], [], max(0.0, patience_s))[0]:
            return b""
        try:
            data = os.read(self._descriptor, min(most, CHUNK))
        except OSError as error:
            raise self._gone(error.strerror or str(error)) from None
        if not data:
            raise self._gone("end of the stream")
        return data

    def discard(self, silence_s: float, limit_s: float) -> int:
        """Drop arriving bytes until the line is silent for `silence_s`, and return their number.

        Raises LineError if the line is not silent within `limit_s`, or the port is gone.
        """
        dropped, until = 0, time.monotonic() + limit_s
        while data := self.receive(CHUNK, silence_s):
            dropped += len(data)
            if time.monotonic() > until:
                cause = f"it sends without a request ({dropped} bytes in {limit_s:g} s)"
                raise LineError(self.name, cause, "connect a board of sanlab, or reset it")
        return dropped

    def close(self) -> None:
        """Close the port. Closing it again has no effect."""
        if self._descriptor >= 0:
            with suppress(OSError, termios.error):  # a lost port, or TCP
                termios.tcflush(self._descriptor, termios.TCIOFLUSH)
            os.close(self._descriptor)
            self._descriptor = -1

    def _gone(self, why: str) -> LineError:
        return LineError(self.name, f"the connection was lost ({why})", "connect the board again, and run again")


def open_port(name: str, speed: int) -> Port:
    """Open a port for this process alone. Raises PortError, with the remedy, if that fails.

    Args:
        name: Device file, or `tcp:<host>:<port>`.
        speed: Bits per second of a serial port; without effect on TCP and pseudo-terminals.
    """
    return _open_tcp(name) if name.startswith(TCP) else _open_device(name, speed)


def _open_tcp(name: str) -> Port:
    host, _, number = name.removeprefix(TCP).rpartition(":")
    if not host or not number.isdigit() or not 0 < int(number) < 1 << 16:
        raise PortError(f"port {name!r}", "not an address", "write tcp:<host>:<port>, such as tcp:localhost:4000")
    try:
        stream = socket.create_connection((host.strip("[]"), int(number)), CONNECT_S)
    except OSError as error:
        cause = f"no connection ({error.strerror or error})"
        raise PortError(f"port {name}", cause, "start the server, or correct run.port") from None
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Port(f"port {name}", stream.detach())


def _open_device(name: str, speed: int) -> Port:
    if speed not in SPEEDS:
        cause, known = f"no serial speed of {speed} bit/s", ", ".join(map(str, sorted(SPEEDS)))
        raise PortError(f"port {name}", cause, f"use one of {known}")
    path = Path(name)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise _unopened(path, error) from None
    try:
        _claim(path, descriptor, speed)
    except BaseException:
        os.close(descriptor)
        raise
    return Port(f"port {name}", descriptor)


def _claim(path: Path, descriptor: int, speed: int) -> None:
    """Lock the port for this process and set it to raw bytes of 8 bits, no parity, one stop bit."""
    if not stat.S_ISCHR(os.fstat(descriptor).st_mode) or not os.isatty(descriptor):
        raise PortError(f"port {path}", "not a serial port", f"name the board's port, {EXAMPLE}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise _unopened(path, error) from None
    try:
        mode = termios.tcgetattr(descriptor)
        control = mode[2] & ~(termios.PARENB | termios.CSTOPB | termios.CSIZE | termios.CRTSCTS)
        control |= termios.CS8 | termios.CREAD | termios.CLOCAL
        mode[:6] = [0, 0, control, 0, SPEEDS[speed], SPEEDS[speed]]
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 0, 0
        termios.tcsetattr(descriptor, termios.TCSANOW, mode)
        termios.tcflush(descriptor, termios.TCIOFLUSH)
    except termios.error as error:
        raise PortError(f"port {path}", f"not set to {speed} bit/s ({error.args[-1]})", "use another port") from None


def _unopened(path: Path, error: OSError) -> PortError:
    """Return the error for a port that cannot be opened or locked."""
    who = f"port {path}"
    if error.errno in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        there = sorted(str(one) for pattern in ("ttyUSB*", "ttyACM*") for one in Path("/dev").glob(pattern))
        ports = f"the serial ports are {', '.join(there)}" if there else "no USB serial port is connected"
        return PortError(who, "does not exist", f"connect the board, or correct run.port; {ports}")
    if error.errno in (errno.EBUSY, errno.EWOULDBLOCK):
        return PortError(who, "another process uses it", "end that process (`fuser` names it), or use another port")
    if error.errno in (errno.EACCES, errno.EPERM):
        return PortError(who, "no permission", "add your user to the group of the port (often dialout)")
    return PortError(who, error.strerror or str(error), f"name the board's port, {EXAMPLE}")

"""Programs of the real machine as programs of a host: no simulated time passes while one computes.

The program is started with a socket, whose descriptor is in the environment variable SANLAB_SOCKET. It sends a request
and waits for the answer; both are frames: the size as four bytes big-endian, and the bytes. A task of the host that
waits for the next request holds the simulation until it arrives. A run therefore depends on the requests and not on
their real time. A program ends with its host, at the latest with the simulator's process, and has no network access
(`confined.py`).
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import MappingProxyType

from pymodels.errors import SanlabError
from pymodels.host.confined import preparation

SOCKET = "SANLAB_SOCKET"
SIZE_BYTES = 4
AT_ONCE = 1 << 18
PATIENCE_S = 60.0
SHOWN = 3
"""Number of words of a command that errors show."""
NONE_MORE: Mapping[str, str] = MappingProxyType({})
_running: set[Outside] = set()


class OutsideError(SanlabError):
    """Failure of a program of the real machine: it cannot be started, sends no request, or ends in a request."""


class Outside:
    """Running program; `status` is its exit status once it has ended, negative for a signal."""

    def __init__(
        self,
        who: str,
        command: Sequence[str],
        patience_s: float = PATIENCE_S,
        variables: Mapping[str, str] = NONE_MORE,
        output: Path | None = None,
        folder: Path | None = None,
        reads: bool = False,
    ) -> None:
        """Start the program.

        Args:
            who: Name of the host, for errors.
            command: Command line.
            patience_s: Maximum real seconds between two requests.
            variables: Environment variables in addition to our own.
            output: File for the program's output; None for ours.
            folder: Working directory; None for ours.
            reads: True if the program inherits our standard input, which is empty otherwise.

        Raises:
            OutsideError: The program cannot be started.
        """
        self.status: int | None = None
        self._who = f"{who}: program {' '.join(command[:SHOWN])!r}"
        self._patience_s = patience_s
        self._asks = False
        self._socket, theirs = socket.socketpair()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _interval(patience_s))
        environment = {"PYTHONHASHSEED": "0", **os.environ, **variables, SOCKET: str(theirs.fileno())}
        with theirs, output.open("wb") if output else nullcontext() as printed:
            try:
                self._process = subprocess.Popen(
                    list(command),
                    env=environment,
                    cwd=folder,
                    stdin=None if reads else subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT if printed else None,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    preexec_fn=preparation(),  # noqa: PLW1509 - system calls only, and this process has no thread
                )
            except (OSError, ValueError, IndexError) as error:
                self._socket.close()
                raise OutsideError(self._who, f"cannot be started ({error})", "name an installed program") from None
        _running.add(self)

    async def request(self) -> bytes | None:
        """Return the next request, or None if the program has ended. No simulated time passes.

        Raises OutsideError if the program sends nothing for too long, or ends in the middle of a request.
        """
        return self._next()

    def exchange(self, data: bytes) -> bytes:
        """Answer a request with a question and return the reply, without simulated time. Raises OutsideError if the
        program ends.
        """
        self.answer(data)
        reply = self._next()
        if reply is None:
            raise OutsideError(self._who, f"ended in a request, with status {self.status}", "see its output")
        return reply

    def _next(self) -> bytes | None:
        if self._asks:
            raise OutsideError(self._who, "has an unanswered request", "answer it first")
        if self.status is not None:
            return None
        data = self._receive()
        if data is None:
            self.kill(signal.SIG_DFL)
            return None
        self._asks = True
        return data

    def answer(self, data: bytes) -> None:
        """Answer a request, after which the program continues. The answer is dropped if the program was killed
        meanwhile.
        """
        if not self._asks:
            raise OutsideError(self._who, "has no pending request", "wait for its request first")
        self._asks = False
        if self.status is not None:
            return
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(len(data).to_bytes(SIZE_BYTES, "big") + data)

    def kill(self, by: int = signal.SIGKILL) -> None:
        """End the program and its children, if it runs. With `by` = SIG_DFL, wait for the program's own end."""
        if self.status is not None:
            return
        self._socket.close()
        if by != signal.SIG_DFL:
            self._end_all()
        try:
            self.status = self._process.wait(self._patience_s)
        except subprocess.TimeoutExpired:
            self._end_all()
            self.status = self._process.wait()
        self._end_all()
        _running.discard(self)

    def _end_all(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _receive(self) -> bytes | None:
        """Return a frame without its size, or None at the end. Raises OutsideError for an incomplete frame."""
        data = self._more()
        if not data:
            return None
        while len(data) < (whole := SIZE_BYTES + int.from_bytes(data[:SIZE_BYTES], "big")) or len(data) < SIZE_BYTES:
            more = self._more()
            if not more:
                self.kill()
                cause = f"broke off in a request, with status {self.status}"
                raise OutsideError(self._who, cause, "see its output")
            data += more
        if len(data) > whole:
            self.kill()
            raise OutsideError(self._who, "sent two requests at once", "let it wait for the answer")
        return data[SIZE_BYTES:]

    def _more(self) -> bytes:
        """Return received bytes; empty at the end."""
        try:
            return self._socket.recv(AT_ONCE)
        except BlockingIOError:
            self.kill()
            cause = f"sent no request for {self._patience_s:g} s, while the simulation waited"
            raise OutsideError(self._who, cause, "raise the limit, or let it send requests") from None
        except ConnectionResetError:
            return b""


def _interval(seconds: float) -> bytes:
    """Return an interval as a `timeval` of the kernel."""
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))


@atexit.register
def end_all() -> None:
    """Kill every running program, at the end of a run."""
    for program in list(_running):
        program.kill()

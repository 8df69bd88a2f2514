"""Client of a board's serial bridge: bursts of words, checksums of both directions, and the way back after a lost byte.

Writes are sent without an answer, and a read waits for its words. The board sums up all bytes of both directions
(`pymodels.board.bone`). `verify` compares these sums, so that no lost, doubled or damaged byte stays unnoticed.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence

from pymodels.board.bone import CHECK_COMMAND, MAX_WORDS, Checks, read_command, reply_words, write_command
from pymodels.board.map import IDENTITY, ControlRegister, control
from pymodels.errors import EXIT_CONFIGURATION
from tb.board.transport import LineError, Port

WORD = 4
VERIFY_AFTER = 256
"""Commands after which the sums are compared."""
BURST_BYTES = 1 << 11
"""Bytes of writes that are sent before the sums are compared, so that a fault of the line ends a long load early."""
PAUSE_S = 0.02
"""First pause with which the client tries to find the bridge between two commands; each further one is doubled."""
REMEDY = "check cable and speed of the port, and run again"


class NoBoardError(LineError):
    """Port on which no board answers."""

    exit_code = EXIT_CONFIGURATION


class Bridge:
    """Registers and memories of a board, by byte addresses of `pymodels.board.map`.

    Args:
        port: Open port.
        patience_s: Seconds without an answer after which the board counts as lost.
    """

    def __init__(self, port: Port, patience_s: float) -> None:
        self.port = port
        self.patience_s = patience_s
        self.trips = 0
        """Number of reads so far, each of which waits for the line."""
        self._checks = Checks()
        self._commands = self._burst = 0
        self._failure: LineError | None = None
        """First failure, after which every access fails in the same way."""

    def connect(self) -> None:
        """Find the bridge, whatever another program has left half sent, and start the checksums.

        Raises:
            NoBoardError: The port is silent, or answers with other bytes.
        """
        heard, pause_s, until = b"", PAUSE_S, time.monotonic() + self.patience_s
        while time.monotonic() < until:
            self.port.discard(pause_s, self.patience_s)
            self.port.send(read_command(control(ControlRegister.IDENTITY)), self.patience_s)
            reply = self._collect(WORD, 4 * pause_s)
            heard = reply or heard
            if len(reply) == WORD and reply_words(reply)[0] == IDENTITY:
                self.port.discard(pause_s, self.patience_s)  # answers to earlier requests, which may be late
                self._start_checks()
                return
            pause_s *= 2
        said = f"it answers {heard.hex(' ')}" if heard else "nothing answers"
        cause = f"{said} to the request for a board's identity"
        raise NoBoardError(
            self.port.name, cause, "connect a board with a bitstream of `make board`, or correct run.port"
        )

    def write(self, address: int, words: Sequence[int]) -> None:
        """Write consecutive words. Raises LineError if the port fails."""
        for at in range(0, len(words), MAX_WORDS):
            self._send(write_command(address + WORD * at, words[at : at + MAX_WORDS]))
            if self._burst > BURST_BYTES:
                self.verify()

    def read(self, address: int, count: int = 1, extra_s: float = 0.0) -> tuple[int, ...]:
        """Return consecutive words, after all earlier writes.

        Args:
            address: Byte address of the first word.
            count: Number of words.
            extra_s: Seconds that the board may take in addition to the patience.

        Raises:
            LineError: The port fails, or the words do not arrive in time.
        """
        words: list[int] = []
        for at in range(0, count, MAX_WORDS):
            some = min(MAX_WORDS, count - at)
            if self._commands >= VERIFY_AFTER:
                self.verify()
            self._send(read_command(address + WORD * at, some))
            words += reply_words(self._reply(WORD * some, extra_s))
        return tuple(words)

    def verify(self) -> None:
        """Compare the checksums of both directions. Raises LineError if a byte was lost, doubled or damaged."""
        self._send(CHECK_COMMAND)
        expected = self._checks.expected()
        found = reply_words(self._reply(len(expected) * WORD, 0.0))
        self._commands = self._burst = 0
        if found[0] != expected[0]:
            raise self._damaged("the board received other bytes than the PC sent")
        if found[1] != expected[1]:
            raise self._damaged("the PC received other bytes than the board sent")

    def _start_checks(self) -> None:
        """Read the sums once, whose first result is unknown."""
        self.port.send(CHECK_COMMAND, self.patience_s)
        reply = self._collect(2 * WORD, self.patience_s)
        self._checks = Checks()
        self._checks.receive(reply)
        self._commands = self._burst = 0
        if len(reply) != 2 * WORD:
            raise self._damaged(f"{len(reply)} of {2 * WORD} bytes arrived")

    def _send(self, data: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        self.port.send(data, self.patience_s)
        self._checks.send(data)
        self._commands += 1
        self._burst += len(data)

    def _reply(self, size: int, extra_s: float) -> bytes:
        self.trips += 1
        reply = self._collect(size, self.patience_s + extra_s)
        if len(reply) < size:
            raise self._silent(len(reply), size)
        self._checks.receive(reply)
        return reply

    def _collect(self, size: int, patience_s: float) -> bytes:
        """Return the next `size` bytes, or fewer if the line is silent for the patience."""
        reply = b""
        until = time.monotonic() + patience_s
        while len(reply) < size and (left := until - time.monotonic()) > 0:
            some = self.port.receive(size - len(reply), left)
            if some:
                until = time.monotonic() + patience_s
            reply += some
        return reply

    def _silent(self, came: int, size: int) -> LineError:
        """Return the error for an incomplete reply, with what the board counts if it still answers."""
        missing = f"{came} of {size} bytes of an answer arrived in {self.patience_s:g} s"
        try:
            self.port.discard(PAUSE_S, self.patience_s)
            self.port.send(read_command(control(ControlRegister.LINE_ERRORS), 2), self.patience_s)
            errors, dropped = struct.unpack(">2I", self._collect(2 * WORD, self.patience_s))
        except (LineError, struct.error):
            cause = f"the board answers no more ({missing})"
            self._failure = LineError(self.port.name, cause, "check power and cable of the board, and run again")
            return self._failure
        return self._damaged(f"{missing}; the board counts {dropped} incomplete commands and {errors} damaged bytes")

    def _damaged(self, how: str) -> LineError:
        cause = f"bytes were lost, doubled or damaged on the line ({how})"
        self._failure = LineError(self.port.name, cause, REMEDY)
        return self._failure

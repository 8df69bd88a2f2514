"""Program on a simulated host; the host's coroutine executes its MPI calls one after the other."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firmware.mpi.host import Mpi
from firmware.mpi.host.errors import Misuse, MpiError
from pymodels.errors import SanlabError
from pymodels.host import Outside, OutsideError
from tb.program.mpi import abi
from tb.program.mpi.build import library
from tb.program.mpi.calls import Call, table
from tb.program.mpi.environment import Aborted
from tb.program.mpi.error_codes import FunctionFailed
from tb.program.mpi.memory import REPLY, REQUEST, Memory, NullAddress
from tb.program.mpi.rank import Rank

LATE = 10
"""Multiple of the patience after which a program must have called MPI_Init even if no simulated time passes."""
SHOWN = 10
"""Number of last output lines of a program in an error."""
HEAD = "<4q"
"""Head of a request: number of the call, CPU time, clock reads, number of arguments."""
ARGUMENTS = 1 + struct.calcsize(HEAD)
"""Offset of the arguments in a request."""
MISSING = "the library lacks this function"


class ProgramError(SanlabError):
    """Failed program, or call of a missing function."""


@dataclass(frozen=True)
class Start:
    """Parameters for starting programs."""

    command: Sequence[str]
    ranks: int
    folder: Path
    """Folder of the programs' output."""
    cpu_ratio: float = 0.0
    """Simulated ns for each ns of CPU time that a program uses."""
    patience_s: float = 60.0
    directory: Path | None = None
    """Working directory of the programs (default: the present one)."""

    def output(self, rank: int) -> Path:
        """Return the file with the output of a rank."""
        return self.folder / f"program-{rank}.txt"


class Server:
    """Program of one rank, and the execution of its calls."""

    def __init__(self, start: Start, mpi: Mpi) -> None:
        self._start, self._mpi, self._number = start, mpi, mpi.engine.rank
        self.calls = 0
        """Number of calls that the program has made."""
        self.sent = 0
        """Number of messages begun by point-to-point send calls."""
        folder = library()
        paths = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        variables = {
            "LD_PRELOAD": str(folder / abi.LIBRARY),
            "LD_LIBRARY_PATH": os.pathsep.join(paths),
            "LD_DYNAMIC_WEAK": "1",  # a profiling library is loaded after ours, whose names are weak
        }
        output = start.output(self._number)
        self._program: Outside = mpi.host.outside(
            start.command, start.patience_s, variables, output, start.directory, reads=not self._number
        )
        self._rank = Rank(mpi, Memory(self._program), start.ranks, start.cpu_ratio)
        self._rank.callback = self._callback
        self._rank.memory.within = self._within

    async def serve(self) -> None:
        """Execute calls until the program ends. Raises ProgramError, MpiError or OutsideError."""
        host = self._mpi.host
        begun = host.now
        await host.syscall()
        self._rank.look_ps = host.now - begun
        try:
            started = time.monotonic()
            while (request := await self._program.request()) is not None:
                if not self._mpi.engine.running and not self._rank.finalized:
                    self._check_begun(time.monotonic() - started, (host.now - begun) / 1e12)
                await self._serve(request)
        except OutsideError as error:
            what, cause = f"rank {self._number}: {error.what}", f"{error.cause}{self._said()}"
            raise ProgramError(what, cause, error.remedy) from None
        if (
            not self._program.status
            and self._mpi.engine.running
            and not (self._rank.initialized or self._rank.sessions)
        ):
            await self._mpi.Finalize()
            self._rank.finalized = True
        self._ended()

    def _check_begun(self, real_s: float, simulated_s: float) -> None:
        """Raise ProgramError for a program that runs for long without calling MPI_Init."""
        patience_s = self._start.patience_s
        if real_s > LATE * patience_s or (real_s > patience_s and simulated_s > patience_s):
            cause = f"the program has not called MPI_Init for {real_s:.0f} s ({simulated_s:.0f} s simulated)"
            remedy = f"start a program linked with {abi.LIBRARY}, or set program.patience_s"
            raise ProgramError(f"rank {self._number}", f"{cause}{self._said()}", remedy)

    def _ended(self) -> None:
        who, status = f"rank {self._number}", self._program.status
        if status:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            raise ProgramError(who, f"the program {how}{self._said()}", "see its output")
        if self._rank.sessions:
            cause = f"the program ended without finalizing {len(self._rank.sessions)} sessions"
            raise ProgramError(who, f"{cause}{self._said()}", "let it call MPI_Session_finalize")
        if not self._rank.finalized:
            begun = self._mpi.engine.running
            cause = "never called MPI_Finalize" if begun else "never called MPI_Init"
            remedy = "let it call MPI_Finalize" if begun else f"start a program linked with {abi.LIBRARY}"
            raise ProgramError(who, f"the program ended, and {cause}{self._said()}", remedy)

    async def _serve(self, request: bytes) -> None:
        """Execute one call after the computing time since the last call."""
        _, cpu_ns, looks, _ = struct.unpack_from(HEAD, request, 1)
        if took := cpu_ns * self._rank.cpu_ratio + looks * self._rank.look_ps / 1000:
            await self._mpi.host.compute(took)
        self._rank.memory.result(await self._result(request), self._mpi.host.now)

    async def _result(self, request: bytes) -> int:
        number, _, _, count = struct.unpack_from(HEAD, request, 1)
        words = struct.unpack_from(f"<{count}q", request, ARGUMENTS)
        one, rank = table()[number], self._rank
        self.calls += 1
        self.sent += "send" in one.plain.lower() and not one.plain.endswith("init")
        outer = rank.call, rank.large, rank.number, rank.within, rank.memory.along
        rank.call, rank.large, rank.number, rank.within = one.plain, one.large, number, None
        rank.memory.along = along(one, words, request[ARGUMENTS + 8 * count :])
        try:
            return await self._do(one, words)
        finally:
            rank.call, rank.large, rank.number, rank.within, rank.memory.along = outer

    def _within(self, request: bytes) -> bytes:
        """Return the answer to a call made by an operator of the program. Raises ProgramError if the call
        takes time.
        """
        doing = self._result(request)
        try:
            doing.send(None)
        except StopIteration as done:
            return self._rank.memory.returned(done.value, self._mpi.host.now)
        doing.close()
        name = table()[struct.unpack_from(HEAD, request, 1)[0]].name
        cause = f"an operator of the program calls {name}, which takes time"
        raise ProgramError(f"rank {self._number}, {self._rank.call}", cause, "let operators compute only")

    async def _do(self, one: Call, words: tuple[int, ...]) -> int:
        """Return the result of a call, or its error class if the program handles errors."""
        who = f"rank {self._number}, {one.name}"
        if one.handler is None:
            raise ProgramError(who, MISSING, "see tb/program/mpi/README.md for supported functions")
        code: int | None = None
        try:
            if not (one.anytime or self._mpi.engine.call):
                self._mpi.engine.check(one.name)
            return await one.handler(self._rank, *one.arguments(words)) or 0
        except Misuse as wrong:
            error = MpiError(self._number, one.name, wrong.error_class, wrong.cause, wrong.remedy)
            code = wrong.code if isinstance(wrong, FunctionFailed) else None
            if isinstance(wrong, NullAddress):
                self._rank.within = None
        except MpiError as raised:
            error = raised
        except Aborted as aborted:
            raise ProgramError(
                who, f"the program called MPI_Abort with code {aborted.code}{self._said()}", "see its output"
            ) from None
        for (_, kind), address in zip(one.parameters, words, strict=True):
            if kind == "NewComm" and address:
                self._rank.memory.put_ints(address, abi.COMM_NULL)
        return await self._handled(error, int(error.error_class) if code is None else code)

    async def _handled(self, error: MpiError, code: int) -> int:
        """Call the program's error handler, if any, and return the error code.

        Raises the error if the communicator's handler is MPI_ERRORS_ARE_FATAL.
        """
        rank = self._rank
        if not self._mpi.engine.running:
            raise error
        within = rank.within or rank.comms[abi.COMM_WORLD]
        if within.errhandler in (abi.ERRORS_ARE_FATAL, abi.ERRORS_ABORT):
            raise error
        if function := rank.errhandlers[within.errhandler]:
            await rank.handle_error(function, within, code)
        return code

    async def _callback(self, function: int, *arguments: int) -> int:
        """Let the program call one of its functions, which may call MPI."""
        self._program.answer(self._rank.memory.call(function, arguments))
        while True:
            request = await self._program.request()
            if request is None:
                raise ProgramError(
                    f"rank {self._number}", "the program ended in one of its own functions", "see its output"
                )
            if request[:1] == REPLY:
                return int.from_bytes(request[1:5], "little")
            assert request[:1] == REQUEST
            await self._serve(request)

    def _said(self) -> str:
        """Return the last lines of the program's output, on one line."""
        path = self._start.output(self._number)
        lines = path.read_text(errors="replace", encoding="utf-8").splitlines()[-SHOWN:] if path.is_file() else []
        return f"; its last output: {' / '.join(line.strip() for line in lines)}" if lines else ""


def along(one: Call, words: Sequence[int], data: bytes) -> tuple[int, bytes]:
    """Return address and bytes of the memory sent with a call."""
    for (_, kind), word in zip(one.parameters, words, strict=False):
        if kind in ("Buffer", "Given"):
            return word & (1 << 64) - 1, data
    return 0, b""

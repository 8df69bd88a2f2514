"""MPI state of one rank's program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from firmware.mpi.host import Mpi
from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.envelope import EACH
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.groups import Group
from firmware.mpi.host.intercomm import Intercomm
from firmware.mpi.host.matched import MatchedMessage
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.operators import Op
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import Status
from tb.program.mpi import abi
from tb.program.mpi.error_codes import ErrorCodes
from tb.program.mpi.layout import Attribute, Layout, Place, predefined
from tb.program.mpi.memory import Memory
from tb.program.mpi.operate import OfProgram, check_type, operators
from tb.program.mpi.tables import Table

AnyComm = Comm | Intercomm
HANDLED_AT = 320
"""Offset in the library's scratch memory of the two words that an error handler of the program reads."""


@dataclass
class Communicator:
    """Communicator of the layer with the objects that the program has attached to it."""

    comm: AnyComm
    handle: int = abi.COMM_NULL
    name: str = ""
    errhandler: int = abi.ERRORS_ARE_FATAL
    attributes: dict[int, Attribute] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    """Hints, which have no effect."""
    topology: object = None
    """Grid or graph of the ranks."""


@dataclass
class Session:
    """Session of the program."""

    info: dict[str, str]
    errhandler: int
    handle: int = abi.SESSION_NULL


@dataclass
class Keyval:
    """Key of attributes, with the program's copy and delete functions (0: none)."""

    copy: int
    delete: int
    extra: int
    kind: str
    """Kind of objects with this key: `Comm`, `Type` or `Win`."""
    freed: bool = False
    uses: int = 0
    """Number of attributes that have the key."""
    copy_proxy: int = 0
    """Function of another language's library that calls `copy`; 0: C."""
    delete_proxy: int = 0


@dataclass
class Generalized:
    """Generalized request: its operation, which the program completes, and the program's functions."""

    operation: Operation
    query: int
    free: int
    cancel: int
    extra: int
    fortran: bool = False
    """True for Fortran functions, whose arguments are addresses, the last one that of the error code."""


@dataclass
class Pending:
    """Request with the place of its received data or, for a persistent send, of its sent data."""

    request: Request
    of: Communicator | Session | None = None
    """Communicator or session whose error handler applies."""
    into: Place | None = None
    out: Place | None = None
    persistent: bool = False
    at_end: Callable[[], None] | None = None
    """Function that writes the results of a non-blocking collective to the program's memory."""
    generalized: Generalized | None = None

    def write(self, status: Status) -> None:
        """Write the data of a completed operation to the program's memory with its next answer."""
        if self.into and not status.cancelled:
            self.into.write(status.size)
        if self.at_end and not status.error:
            self.at_end()


class Rank:
    """MPI state of one program."""

    def __init__(self, mpi: Mpi, memory: Memory, ranks: int, cpu_ratio: float) -> None:
        """Create the state of a program.

        Args:
            mpi: MPI layer of the host.
            memory: Memory of the program.
            ranks: Number of ranks in MPI_COMM_WORLD.
            cpu_ratio: Simulated ns for each ns of computing.
        """
        self.mpi, self.memory, self.ranks = mpi, memory, ranks
        self.call, self.number = "", 0
        """The present call without the suffix of large counts, and its number in the table."""
        self.large = False
        """True while the present call is one of large counts."""
        self.cpu_ratio = cpu_ratio
        self.look_ps = 0
        """Time to read a clock, in ps."""
        self.within: Communicator | Session | None = None
        """The communicator or session of the present call."""
        self.initialized = self.finalized = False
        """True once the program has called MPI_Init or MPI_Finalize, respectively."""
        self.buffer = 0
        """Address of the buffer attached for buffered sends."""
        self.callback: Callable[..., Awaitable[int]]
        """Let the program call one of its functions."""
        self._scratch = 0
        self.threads = abi.THREAD_SINGLE
        self.comms: Table[Communicator] = Table("communicator", abi.MADE["comm"], ErrorClass.COMM)
        self.groups: Table[Group] = Table("group", abi.MADE["group"], ErrorClass.GROUP)
        self.types: Table[Layout] = Table("datatype", abi.MADE["datatype"], ErrorClass.TYPE, predefined())
        self.f90_types: dict[tuple[int, ...], int] = {}
        """Handles of Fortran kind types, by combiner and range."""
        self.ops: Table[Op | OfProgram] = Table("operator", abi.MADE["op"], ErrorClass.OP, operators())
        self.requests: Table[Pending] = Table("request", abi.MADE["request"], ErrorClass.REQUEST)
        self.messages: Table[MatchedMessage] = Table("message", abi.MADE["message"], ErrorClass.REQUEST)
        self.infos: Table[dict[str, str]] = Table("info", abi.MADE["info"], ErrorClass.ARG, {abi.INFO_ENV: {}})
        self.sessions: Table[Session] = Table("session", abi.MADE["session"], ErrorClass.SESSION)
        self.keyvals: Table[Keyval] = Table("keyval", abi.KEYVAL, ErrorClass.KEYVAL)
        self.errors = ErrorCodes()
        self.errhandlers: Table[int] = Table(
            "error handler",
            abi.MADE["errhandler"],
            ErrorClass.ARG,
            dict.fromkeys((abi.ERRORS_ARE_FATAL, abi.ERRORS_RETURN, abi.ERRORS_ABORT), 0),
        )
        """Functions of the program; 0 for the standard's handlers."""

    async def begin(self) -> None:
        """Connect with all ranks and create the predefined communicators."""
        engine = self.mpi.engine
        await self.mpi.Init()
        for number, handle, ranks, name in (
            (1, abi.COMM_WORLD, range(self.ranks), "MPI_COMM_WORLD"),
            (2, abi.COMM_SELF, [engine.rank], "MPI_COMM_SELF"),
        ):
            self.comms.set(handle, Communicator(Comm(engine, ranks, number * EACH, name), handle, name))
        self.groups.set(abi.GROUP_EMPTY, Group(engine, []))

    def scratch(self) -> int:
        """Return the address of the library's scratch memory in the program."""
        self._scratch = self._scratch or int.from_bytes(self.memory.exchange(b"w"), "little")
        return self._scratch

    def communicator(self, handle: int) -> Communicator:
        """Return a communicator and select it for the present call. Raises Misuse."""
        self.within = found = self.comms[handle]
        return found

    def session(self, handle: int) -> Session:
        """Return a session and select it for the present call. Raises Misuse."""
        self.within = found = self.sessions[handle]
        return found

    def comm(self, handle: int) -> AnyComm:
        """Return the layer's communicator. Raises Misuse."""
        return self.communicator(handle).comm

    def intracomm(self, handle: int) -> Comm:
        """Return the layer's communicator of one group. Raises Misuse for an inter-communicator."""
        found = self.comm(handle)
        if isinstance(found, Intercomm):
            raise Misuse(ErrorClass.COMM, f"{found.name} is an inter-communicator", "give an intra-communicator")
        return found

    def intercomm(self, handle: int) -> Intercomm:
        """Return the layer's inter-communicator. Raises Misuse for another communicator."""
        found = self.comm(handle)
        if not isinstance(found, Intercomm):
            raise Misuse(ErrorClass.COMM, f"{found.name} is an intra-communicator", "give an inter-communicator")
        return found

    def keep(self, comm: AnyComm | None, like: Communicator) -> int:
        """Register a communicator derived from `like` and return its handle."""
        if comm is None:
            return abi.COMM_NULL
        made = Communicator(comm, errhandler=like.errhandler)
        made.handle = self.comms.new(made)
        return made.handle

    async def handle_error(self, function: int, within: Communicator | Session, code: int) -> None:
        """Call an error handler of the program with a communicator or session and an error code, both by address."""
        at = self.scratch() + HANDLED_AT
        self.memory.put_ints(at, within.handle, code)
        await self.callback(function, at, at + 4)

    def hints(self, info: int) -> dict[str, str]:
        """Return the keys and values of an info. Raises Misuse."""
        return {} if info == abi.INFO_NULL else self.infos[info]

    def place(self, address: int, count: int, datatype: int) -> Place:
        """Return the place of a receiving buffer."""
        if address == abi.IN_PLACE:
            raise Misuse(ErrorClass.BUFFER, "MPI_IN_PLACE is not a buffer here", "give an address")
        return Place(self.memory, address, count, self.types[datatype])

    def data(self, address: int, count: int, datatype: int) -> Place:
        """Return the place of a sending buffer with its data."""
        return self.place(address, count, datatype).read()

    def op(self, handle: int, datatype: int) -> Op:
        """Return an operator for elements of a datatype."""
        found, layout = self.ops[handle], self.types[datatype]
        if isinstance(found, OfProgram):
            return found.on(self.memory, datatype, layout)
        check_type(found, layout)
        return found

    def counts(self, address: int, number: int) -> list[int]:
        """Read counts or displacements, of 64 bits in a call of large counts."""
        return self.memory.longs(address, number) if self.large else self.memory.ints(address, number)

    def put_count(self, address: int, count: int) -> None:
        """Write a count; MPI_UNDEFINED if it does not fit an int."""
        if self.large:
            self.memory.put_longs(address, count)
        else:
            self.memory.put_ints(address, abi.as_int(count))

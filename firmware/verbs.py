"""Verbs: the interface between software (firmware, drivers, libraries) and the simulated machine.

`Nic` is the interface of a LANai program, `Host` that of a driver or a user library. The RTL binding (`tb.bind`) and
the pure-Python machine (`pymodels.machine`) both implement these protocols. Every byte of a message moves through the
hardware below the verbs. Software decides, and charges time only for its instructions, by the name of a compiled path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pymodels.cards import CardMap
from pymodels.host.moves import Moves
from pymodels.host.outside import Outside
from pymodels.host.process import Process
from pymodels.host.signals import Sig
from pymodels.messages import Places
from pymodels.waiting import Waits, Wanted


@dataclass(frozen=True)
class Answer:
    """First actions of software for bits of ISR, common to every handler of these bits.

    Each action is optional: `clears` is written to ISR, `path` is executed, the register `reads` is read. `passed` is
    the path that is executed if none of the bits is set, before the next answer is tried.
    """

    mask: int
    clears: int = 0
    path: str = ""
    reads: int | None = None
    passed: str = ""


@dataclass(frozen=True)
class Watch:
    """Step of a polling loop: sample a word and compare it.

    `address` is a byte address in SRAM, or the offset of a special register if `register` is true. The step hits when
    (value ^ expect) & mask is not zero. `path` names the compiled cost of the step up to and including the sample.

    With `reads`, a hit begins with a read of the register. With `answers`, the first answer with a set bit is executed
    next. After a hit of a watch with answers, software calls `answered` first (firmware/common/nic).
    """

    address: int
    expect: int
    path: str
    mask: int = 0xFFFFFFFF
    register: bool = False
    reads: bool = False
    answers: tuple[Answer, ...] = ()


class Waitable(Protocol):
    """Object that can be awaited more than once and has a flag for completion."""

    done: bool

    def __await__(self) -> Any: ...


class Signal(Protocol):
    """Condition between tasks: `wait` returns a future that the next `set` completes."""

    def set(self) -> None:
        """Wake every task that currently waits. Later waits are not affected."""

    def wait(self) -> Awaitable[None]:
        """Return the future of the next `set`."""


class PollLoop(Protocol):
    """Polling loop of the NIC processor: its steps run in order, cyclically, from the last stop."""

    def expect(self, step: int, value: int) -> None:
        """Change the value that a step compares with. Free: the `work` path around the call has the cost."""

    def aim(self, step: int, address: int) -> None:
        """Change the SRAM address of a step, from the next run on. Free, as `expect`."""

    def first(self, count: int) -> None:
        """Restrict the loop to its first `count` steps, from the next run until the next call."""

    def run(self, start: int | None = None) -> Awaitable[int]:
        """Spin until a step hits, and return its index. `start` is the first step (default: after the last hit)."""


class Concurrency(Protocol):
    """Tasks and time, the same on the host and on the NIC."""

    @property
    def now(self) -> int:
        """Simulated time in picoseconds."""

    @property
    def who(self) -> str:
        """Name of this unit in reports of waiting, such as `NIC 0` or `host paris`."""

    @property
    def waits(self) -> Waits:
        """Registry of waits: software declares a wait by `waits.want(who, resource, holder)`, and its end by `got`."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Any:
        """Start a task and return it; awaiting its `finished` gives the return value."""

    def event(self, why: str | Wanted) -> Signal:
        """Return a new condition between tasks. `why` describes its waiters in hang reports."""

    def sleep(self, duration_ps: int, why: str | Wanted = "time") -> Awaitable[None]:
        """Wait without using the processor (a timer)."""

    def trace(self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0, *, message: int = 0) -> None:
        """Append a trace record.

        Args:
            event: event of `pymodels.trace`.
            packet: packet key.
            argument: first argument, as the event defines it.
            argument2: second argument, as the event defines it.
            message: number of the message, 0 if unknown.
        """

    def message(self) -> int:
        """Return a number for a new message in the trace, unique in the run; 0 if the machine keeps no trace."""


class Nic(Concurrency, Protocol):
    """LANai: its SRAM, its special registers, its processor's time."""

    node: int
    kind: str
    """Kind of NIC. On a LANai, registers, bits and limits have the names of a LANai 9; verbs translate them."""
    word_bytes: int
    """Bytes of an SRAM word of the engines: step of RMP, granularity of limits, exclusive bound of SA."""
    sram_bytes: int

    places: Places
    """Numbers of messages in SRAM, by address divided by the bytes of a place (`pymodels.messages.PLACE`)."""

    def put_message(self, address: int, message: int, in_host: bool = False) -> None:
        """Note for the trace that a message begins at an address of SRAM, or of host memory. Costs no time.

        Records of the hardware have the number noted at the address that they name.
        """

    def message_at(self, address: int, in_host: bool = False) -> int:
        """Return the number of the message that begins at an address of SRAM, or of host memory; 0 where none does.

        A packet that arrives is noted at its first byte.
        """

    def put_command(self, number: int, store: bool, message: int) -> None:
        """Note for the trace the message of an SP adapter's FETCH or STORE, by its number among these commands."""

    def put_in_card(self, offset: int, message: int) -> None:
        """Note for the trace the message that begins at a byte offset in the memory of the node's FPGA card."""

    def card_result(self, count: int) -> int:
        """Return the number of the `count`-th result, from 0, that the node's FPGA card has written for the NIC."""

    def arrival(self, count: int) -> int:
        """Return the number of the message of the `count`-th packet, from 0, that has arrived at an SP adapter."""

    def load(self, address: int) -> int:
        """Return the 32-bit big-endian word at an SRAM address (a multiple of 4). Free: the path around it has the
        cost.
        """

    def store(self, address: int, value: int) -> None:
        """Store a 32-bit big-endian word."""

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return `count` consecutive 32-bit words."""

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store consecutive 32-bit words."""

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return `count` bytes (a byte-wise load loop on the LANai, whose cost is in the path around it)."""

    def write(self, register: int, value: int) -> None:
        """Write a special register. Posted in program order: each takes one NIC clock, after the work before it."""

    def read(self, register: int) -> Awaitable[int]:
        """Read a special register, in program order."""

    def work(self, path: str, times: int = 1) -> Awaitable[None]:
        """Execute a compiled path `times` times: instructions, loads, stores (which lose to DMA), uncached accesses."""

    def work_on(self, path: str, times: int = 1) -> Awaitable[None]:
        """Execute a compiled path `times` times; the software may continue before its end, which saves a wake-up.

        Later register writes, paths, polling loops and trace records wait for the end of the path. Until the next
        `work`, `read`, `run` or `caught_up`, the software must load no word that another unit stores. It must store no
        word that another unit loads without notice by a register, and must not read the time.
        """

    def caught_up(self) -> Awaitable[None]:
        """Wait for the end of all paths of `work_on`."""

    def store_on(self, address: int, words: Sequence[int]) -> None:
        """Store up to four consecutive words at the end of the pending paths of `work_on`, as trace records are.

        The software must not load these words earlier.
        """

    def begun(self, watch: Watch) -> tuple[int, int, int] | None:
        """Return the actions already executed for the watch that a polling loop has just hit.

        The result is the register's value, the index of the answer that was executed, and the value that the answer
        read. None if no action was executed.
        """

    def post(self, path: str) -> None:
        """Execute a compiled path without waiting for its end; the next verb takes effect after it.

        Cheaper to simulate than `work`. For the last path of a step, whose only successor is the next polling loop.
        """

    def poll_loop(self, steps: Sequence[Watch]) -> PollLoop:
        """Return a polling loop over `steps`."""


class Buffer(Protocol):
    """Pinned host memory, contiguous in the physical address space."""

    address: int
    """Physical byte address."""
    size: int
    """Bytes."""
    view: memoryview
    """Writable view of the bytes, without a copy."""


class Host(Concurrency, Protocol):
    """Host: physical memory, one CPU, its PCI bus. Addresses are physical byte addresses.

    Processes with virtual address spaces (`pymodels.host.process`) are built from these verbs.
    """

    node: int
    name: str
    processes: list[Process]
    nic_base: int
    """Physical base address of the NIC's SRAM."""
    card: CardMap
    """Address map of the NIC's card."""

    def put_message(self, address: int, message: int) -> None:
        """Note for the trace that a message begins at an address, in host memory or on the NIC. Costs no time."""

    def put_packet(self, address: int, message: int) -> None:
        """Note for the trace that a packet begins on the NIC before an address, with the route of up to 8 bytes."""

    def message_at(self, address: int) -> int:
        """Return the number of the message that begins at an address, in host memory or on the NIC; 0 if none does."""

    def allocate(self, size: int, align: int = 4096) -> Buffer:
        """Return pinned contiguous memory. Raises MemoryError, with requested and free size, if none is left."""

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return big-endian 32-bit words of host memory (network byte order, as GRIM keeps them)."""

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store big-endian 32-bit words in host memory."""

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return bytes of host memory."""

    def window(self, address: int, size: int) -> memoryview:
        """Return a view of host memory with what cards have written there so far."""

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to host memory (stores of the CPU, whose cost is in the path around them)."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Execute a compiled path `times` times on the CPU. Waits while another task or an ISR occupies the CPU."""

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Use the CPU as an application does: preempted at once by any other user, and prolonged by its time.

        Args:
            what: Name of a compiled path, or a time in ns.
            times: Number of repetitions.

        Raises:
            ComputingError: The time is negative.
        """

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of host memory by the CPU.

        The cost is the longer of two times, which overlap: a compiled path for every 32 bytes, and the time of uncached
        memory (profile: `memory.copy_MBps`).
        """

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Store `data` (a multiple of 4 bytes, word-aligned) to the PCI bus, word by word, or write-combined.

        Returns when the CPU may continue. The words are posted: they arrive later, in program order.
        """

    async def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> None:
        """Copy `size` bytes (rounded up to words) from host memory to the PCI bus, as `pio_write` does."""

    async def pio_read(self, address: int) -> int:
        """Read a big-endian 32-bit word over the bus; earlier posted writes arrive first."""

    async def poll_card(
        self, address: int, expect: int, path: str, mask: int = 0xFFFFFFFF, timeout_ns: float = 0
    ) -> int:
        """Poll a word of a card over the bus until a bit of `mask` differs from `expect`, and return the word.

        Args:
            address: Physical byte address.
            expect: Value to compare with.
            path: Compiled cost of a turn after each read.
            mask: Bits to compare.
            timeout_ns: Limit that is checked at the end of each turn; 0 for no limit.
        """

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on 32-bit words of host memory until one changes, and return its index.

        Returns when the spinning loop would have seen the change. If another task moves the words (`moves`), returns at
        the next sample, and the index is meaningless.

        Args:
            watches: Address and present value of each word.
            path: Compiled cost of a sample of one word.
            moves: Notification that the words have moved.
        """

    async def switch_context(self) -> None:
        """Switch the CPU from one thread of the process to another (profile: context switch)."""

    async def syscall(self) -> None:
        """Enter the kernel and return (profile: kernel entry)."""

    copied_bytes: int
    """Number of bytes copied by `copy_memory`."""

    @property
    def cpu_ps(self) -> int:
        """CPU time used so far, in picoseconds: instructions, stores and loads on the bus, polling, switches."""

    def process(self, name: str = "") -> Process:
        """Return a new process, named by its number (from 1) if no name is given."""

    def outside(
        self,
        command: Sequence[str],
        patience_s: float = 60.0,
        variables: Mapping[str, str] = ...,
        output: Path | None = None,
        folder: Path | None = None,
        reads: bool = False,
    ) -> Outside:
        """Start a program of the real machine that exchanges requests and replies with the simulation.

        No simulated time passes while the program computes.

        Args:
            command: Command line.
            patience_s: Real seconds without a request after which OutsideError is raised.
            variables: Environment variables, in addition to the inherited ones.
            output: File for the program's output; None for the inherited output.
            folder: Working directory; None for the current one.
            reads: True if the program inherits standard input, which is empty otherwise.

        Raises:
            OutsideError: The program cannot be started, or makes no request for `patience_s`.
        """

    def signal(self, number: int, sig: Sig, call: str = "") -> None:
        """Send a signal from the kernel to a process. Raises SignalError, naming `call`, for an unknown process."""

    async def overhead(self, what: str) -> None:
        """Use the CPU for costs of a driver or library outside of compiled paths (profile: `host.<what>_ns`)."""

    def on_interrupt(self, handler: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Register the driver's interrupt routine, which takes the CPU after the interrupt latency.

        The line is level sensitive and masked while the handler runs (`pymodels.host.interrupts`).
        """

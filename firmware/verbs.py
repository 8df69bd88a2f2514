"""The verbs: all that firmware and drivers see of the machine they run on.

`Nic` is what a LANai program sees, `Host` what a driver or a user library sees. The RTL binding (`tb.bind`) and the
pure-Python machine (`pymodels.machine`) both satisfy these protocols by shape. Every byte of a message moves through
the hardware behind the verbs; software decides, and charges time only for its instructions, by the name of a compiled
path.
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
from pymodels.waiting import Waits, Wanted


@dataclass(frozen=True)
class Answer:
    """How software begins to answer bits of ISR, whatever it does behind that: `clears` is written to ISR, `path`
    executed, a register read, each where there is one. `passed`: the path that is executed where none of the bits is
    set, and the next answer has its turn.
    """

    mask: int
    clears: int = 0
    path: str = ""
    reads: int | None = None
    passed: str = ""


@dataclass(frozen=True)
class Watch:
    """One step of a polling loop: sample a word, compare, go on.

    `address` is a byte address in SRAM, or the offset of a special register when `register` is true. The step hits when
    (value ^ expect) & mask is not zero. `path` names the compiled cost of the step up to and including the sample.
    `reads`: what is done at a hit begins with a read of the register. `answers`: and goes on with the first of them
    of which a bit is set. Behind such a hit `answered` comes first (firmware/common/nic).
    """

    address: int
    expect: int
    path: str
    mask: int = 0xFFFFFFFF
    register: bool = False
    reads: bool = False
    answers: tuple[Answer, ...] = ()


class Waitable(Protocol):
    """Something that can be awaited more than once and tells whether it is done."""

    done: bool

    def __await__(self) -> Any: ...


class Signal(Protocol):
    """A condition between tasks: `wait` gives the future of the next `set`."""

    def set(self) -> None:
        """Wake every task that waits now; nothing is remembered for later ones."""

    def wait(self) -> Awaitable[None]:
        """The future of the next `set`."""


class PollLoop(Protocol):
    """A polling loop as the NIC processor runs it: its steps in order, round and round, from where it last stopped."""

    def expect(self, step: int, value: int) -> None:
        """Change the value that a step compares with (free: the instructions that do it are in a `work` path)."""

    def aim(self, step: int, address: int) -> None:
        """Let a step look at another word of SRAM, from the next run on (free, as `expect`)."""

    def first(self, count: int) -> None:
        """Look at the first `count` steps only, from the next run on, until told otherwise."""

    def run(self, start: int | None = None) -> Awaitable[int]:
        """Spin until a step hits; its index. `start` names the first step (default: the one after the last hit)."""


class Concurrency(Protocol):
    """Tasks and time, the same on the host and on the NIC."""

    @property
    def now(self) -> int:
        """Simulated time in picoseconds."""

    @property
    def who(self) -> str:
        """This unit in reports of waiting, such as `NIC 0` or `host paris`."""

    @property
    def waits(self) -> Waits:
        """Where software declares what it lacks and who holds it: `waits.want(who, resource, holder)`, then `got`."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Any:
        """Start a task; its `finished` can be awaited for the return value."""

    def event(self, why: str | Wanted) -> Signal:
        """A new condition between tasks; `why` is what a hang report says of those that wait."""

    def sleep(self, duration_ps: int, why: str | Wanted = "time") -> Awaitable[None]:
        """Let time pass without using the processor (a timer)."""

    def trace(self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0) -> None:
        """Append a record to the trace: an event of `pymodels.trace`, the packet key, its two arguments."""


class Nic(Concurrency, Protocol):
    """The LANai: its SRAM, its special registers, its processor's time."""

    node: int
    kind: str
    """Which NIC it is. On a LANai, registers, bits and limits are named as on a LANai 9; verbs translate."""
    word_bytes: int
    """A word of SRAM as the engines see it: the step of RMP, the granularity of limits, beyond the most of SA."""
    sram_bytes: int

    def load(self, address: int) -> int:
        """The 32-bit big-endian word at an SRAM address (a multiple of 4). Free: its cost is in the path around it."""

    def store(self, address: int, value: int) -> None:
        """Store a 32-bit big-endian word."""

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """`count` consecutive 32-bit words."""

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store consecutive 32-bit words."""

    def load_bytes(self, address: int, count: int) -> bytes:
        """`count` bytes (a byte-wise load loop on the LANai; its cost is in the path that contains it)."""

    def write(self, register: int, value: int) -> None:
        """Write a special register. Posted in program order: one NIC clock each, after the work before it."""

    def read(self, register: int) -> Awaitable[int]:
        """Read a special register, in program order."""

    def work(self, path: str, times: int = 1) -> Awaitable[None]:
        """Execute a compiled path `times` times: instructions, loads, stores (which lose to DMA), uncached accesses."""

    def work_on(self, path: str, times: int = 1) -> Awaitable[None]:
        """Execute a compiled path `times` times, as `work`; the software may go on before its end, which costs no wake.

        Register writes, paths, polling loops and trace records behind it come after its end. For paths behind which,
        up to the next `work`, `read`, `run` or `caught_up`, the software loads no word that anybody else stores, stores
        none that anybody else loads without being told by a register, and does not look at the time.
        """

    def caught_up(self) -> Awaitable[None]:
        """Let no `work_on` be under way."""

    def store_on(self, address: int, words: Sequence[int]) -> None:
        """Store up to four consecutive words behind the paths of `work_on`, when their end is reached, as a trace
        record is appended then. The software does not load them before.
        """

    def begun(self, watch: Watch) -> tuple[int, int, int] | None:
        """What was done of a watch by which a polling loop has just hit: what the register held, the number of the
        answer that has begun, the value that this has read. None: nothing, it is all left to the software.
        """

    def post(self, path: str) -> None:
        """Execute a compiled path whose end nobody waits for: what is given next happens after it, as after `work`.

        Cheaper to simulate. For the last path of a step, with no effect behind it but the next polling loop.
        """

    def poll_loop(self, steps: Sequence[Watch]) -> PollLoop:
        """A polling loop over `steps`."""


class Buffer(Protocol):
    """Pinned host memory, contiguous in the physical address space."""

    address: int
    """Physical byte address."""
    size: int
    """Bytes."""
    view: memoryview
    """The bytes themselves, writable, without a copy."""


class Host(Concurrency, Protocol):
    """A host: physical memory, one CPU, its PCI bus. Addresses are physical byte addresses.

    Its processes, each with a virtual address space of its own, are made of these verbs: `pymodels.host.process`.
    """

    node: int
    name: str
    processes: list[Process]
    nic_base: int
    """Physical address at which the NIC's SRAM stands."""
    card: CardMap
    """Where everything on the NIC's card stands."""

    def allocate(self, size: int, align: int = 4096) -> Buffer:
        """Pinned contiguous memory. Raises MemoryError (size asked, size left) when the host has none."""

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Big-endian 32-bit words in host memory (network byte order, as GRIM keeps them)."""

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store big-endian 32-bit words in host memory."""

    def load_bytes(self, address: int, count: int) -> bytes:
        """Bytes of host memory."""

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to host memory (the CPU's own stores; their cost is in the path that contains them)."""

    async def spend(self, path: str, times: int = 1) -> None:
        """Use the CPU for a compiled path, `times` times. One CPU per host: waits while a task or an ISR has it."""

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Use the CPU for a compiled path, or so many ns, `times` times, as an application computes: whoever else takes
        the CPU has it at once, and the computing ends later by what they took. ComputingError for a negative time.
        """

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of host memory by the CPU: a compiled path for every 32 of them, and what memory itself takes for
        data that no cache keeps (profile: `memory.copy_MBps`).
        """

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Store `data` (a multiple of 4 bytes, word-aligned) to the PCI bus, word by word, or write-combined.

        Returns when the CPU may go on (posted), which is not when the words have arrived; they arrive in program order.
        """

    async def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> None:
        """Copy `size` bytes (rounded up to words) from host memory to the PCI bus, as `pio_write` does."""

    async def pio_read(self, address: int) -> int:
        """Read a big-endian 32-bit word over the bus; earlier posted writes arrive first."""

    async def poll_card(
        self, address: int, expect: int, path: str, mask: int = 0xFFFFFFFF, timeout_ns: float = 0
    ) -> int:
        """Read a word of a card over the bus, each time with a compiled path behind it, until a bit of `mask` differs
        from `expect`, or `timeout_ns` have passed at the end of a turn (0: no limit); the word that was read last.
        """

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Spin on 32-bit words of host memory, each (address, value it has now), until one differs; its index.

        `path` is the compiled cost of looking at one word. Returns when the spinning loop would have noticed, or at the
        next look after another task has moved the words (`moves`); then the index says nothing.
        """

    async def switch_context(self) -> None:
        """Give the CPU from one thread of the process to another (profile: context switch)."""

    async def syscall(self) -> None:
        """Enter the kernel and come back (profile: kernel entry)."""

    copied_bytes: int
    """Bytes that `copy_memory` has copied so far."""

    @property
    def cpu_ps(self) -> int:
        """CPU time used so far, in picoseconds: instructions, stores and loads on the bus, polling, switches."""

    def process(self, name: str = "") -> Process:
        """A new process; its number, from 1, is its name unless one is given."""

    def outside(
        self,
        command: Sequence[str],
        patience_s: float = 60.0,
        variables: Mapping[str, str] = ...,
        output: Path | None = None,
        folder: Path | None = None,
        reads: bool = False,
    ) -> Outside:
        """Start a program of the real machine, which asks and is answered. No simulated time passes while it computes.
        `variables` of its environment beside our own; what it prints goes to the file `output`, if not where ours does;
        it runs in `folder`, if not here; with `reads` it inherits our standard input, which is empty otherwise.
        Raises OutsideError when it cannot be started; after `patience_s` real seconds without a request.
        """

    def signal(self, number: int, sig: Sig, call: str = "") -> None:
        """The kernel's: a process has a signal. Raises SignalError, which names the `call`, when there is no such."""

    async def overhead(self, what: str) -> None:
        """Use the CPU for what a driver or library costs beside its compiled paths (profile: `host.<what>_ns`)."""

    def on_interrupt(self, handler: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Register the driver's service routine; it starts after the interrupt latency and takes the CPU.

        The line is level sensitive and masked while the routine runs: the rule is `pymodels.host.interrupts`.
        """

"""LAPI of one task: the 14 functions by their names in the manual (readings of paper 001, 6.2)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from firmware.hal.host.interface import Hal, Packet
from firmware.lapi.host.arguments import Arguments, whole
from firmware.lapi.host.calls import Query, Rmw
from firmware.lapi.host.collective import Collective
from firmware.lapi.host.effects import OPERATION, Effects
from firmware.lapi.host.environment import Environment
from firmware.lapi.host.errors import LapiError, Misuse
from firmware.lapi.host.handlers import CompletionThread, Functions, HeaderHandler
from firmware.lapi.host.header import MASK, Header, Kind
from firmware.lapi.host.incoming import Incoming
from firmware.lapi.host.memory import Memory
from firmware.lapi.host.outgoing import PROTOCOL, Message, Outgoing
from firmware.lapi.host.turns import Turns
from firmware.lapi.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView

NO_DELAY_US = 0
"""Delay of HAL's interrupt routine, which does not wait for further packets (paper 001, 6.5.1)."""


class Lapi:
    """LAPI of one task, whose number is the virtual node number of its host. Addresses are those of its `process`."""

    def __init__(self, host: Host, view: ClusterView, below: Hal, begin: int = 0) -> None:
        """Create the task; `below` is HAL of this host, `begin` the first sequence number of every pair."""
        self.host, self.hal, self.me, self.tasks = host, below, view.me, len(view.names)
        self.process = host.process("lapi")
        self.settings = Environment(Options.from_values(view.options))
        self.thread = CompletionThread(host, self.process, self.me, self)
        self.memory = Memory(host, self.process)
        self._functions, self._running = Functions(), set[object]()
        self.outgoing = Outgoing(host, below, self.memory, self._own, self._raise, begin)
        self._effects = Effects(host, self.memory, self.thread, self.outgoing, self._fail)
        self._incoming = Incoming(
            host,
            self.memory,
            self.outgoing,
            self._functions,
            self._effects.whole,
            self._fail,
            self._task,
            self._running,
        )
        self._turns = Turns(host, self.process, below, self.thread, self.outgoing)
        self._arguments = Arguments(self.tasks, self.memory, host, self.settings)
        self._collective = Collective(self.me, self.tasks, self._effects.notes, self._give, self._until)
        self._failures: list[Misuse] = []
        self._on = self._known = False
        self._who, self._names = f"{host.who}: task {self.me}", view.names

    # ---- callbacks shared by the parts

    def _task(self) -> object:
        """Return the running simulation task."""
        return self.process.host.scheduler.kernel.current

    async def _own(self, header: Header, body: bytes) -> None:
        await self._incoming.own(header, body)

    def _raise(self, counter: int) -> None:
        self._effects.raise_counter(counter)

    def _fail(self, argument: str, cause: str, remedy: str) -> None:
        """Record an invalid message of a peer; the current or next call of this task raises it."""
        self._failures.append(Misuse(argument, cause, remedy))

    async def _packet(self, packet: Packet) -> None:
        await self._incoming.packet(packet)
        self._turns.stirred()
        self._watch()

    async def _give(self, target: int, message: Message) -> None:
        """Send a message."""
        self.outgoing.give(target, message)
        await self.outgoing.advance()
        self._watch()

    def _watch(self) -> None:
        """Run the time-out timer in interrupt mode, when no LAPI call is active."""
        if self.settings.options.interrupt_set:
            self._turns.start_clock()

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until a condition holds; `what` describes the wait in a hang report.

        Raises Misuse for an invalid message of a peer.
        """
        self.host.waits.want(self._who, what)
        await self._turns.until(lambda: condition() or bool(self._failures))
        self.host.waits.got(self._who, what)
        self._failed()

    def _failed(self) -> None:
        if self._failures:
            raise self._failures.pop(0)

    @asynccontextmanager
    async def _calling(self, name: str) -> AsyncIterator[None]:
        """Run a call with the CPU held.

        Raises LapiError outside of Init and Term, in a header handler, and for invalid arguments or messages of peers.
        """
        call = f"LAPI_{name}"
        if self._task() in self._running:
            cause, remedy = "a header handler may not call LAPI", "call it in a completion handler"
            raise LapiError(self.me, call, "", cause, remedy)
        if not self._on:
            raise LapiError(self.me, call, "", "LAPI is not initialized, or has ended", "call it after LAPI_Init")
        async with self._turns.call():
            try:
                self._failed()
                yield
            except Misuse as wrong:
                raise LapiError(self.me, call, wrong.argument, wrong.cause, wrong.remedy) from None

    # ---- initialisation and termination

    async def Init(self) -> None:
        """Create the context (`LAPI_Init`). Raises LapiError if it exists."""
        if self._task() in self._running or self._on:
            cause = "LAPI is initialized already"
            raise LapiError(self.me, "LAPI_Init", "", cause, "call it once, before all other calls")
        await self.hal.start()
        if not self._known:
            self._known = True
            self.hal.on_packet(PROTOCOL, self._packet)
            self.host.waits.register(lambda: self.outgoing.waits(self._who, self._names))
        self._on = True
        await self._apply()

    async def Term(self) -> None:
        """End the context when all messages of this task are acknowledged (`LAPI_Term`).

        Interrupts stay enabled, so that packets whose acknowledgement was lost are acknowledged again.
        """
        async with self._calling("Term"):
            await self._fence()
            await self.hal.interrupts(True, NO_DELAY_US)
            self._on = False

    def handler(self, function: HeaderHandler) -> int:
        """Register a header handler and return its address. Tasks of one program register in the same order."""
        return self._functions.place(function)

    async def _apply(self) -> None:
        """Apply the environment to send side, receive side and HAL."""
        self.outgoing.timeout_ps = 1_000_000 * self.settings.options.timeout_us
        self._incoming.acknowledge_at = self.settings.options.ack_packets
        await self.hal.interrupts(bool(self.settings.options.interrupt_set), NO_DELAY_US)

    # ---- data

    async def Put(
        self,
        tgt: int,
        length: int,
        tgt_addr: int,
        org_addr: int,
        tgt_cntr: int = 0,
        org_cntr: int = 0,
        cmpl_cntr: int = 0,
    ) -> None:
        """Copy bytes of this task to another task's memory (`LAPI_Put`).

        Args:
            tgt: target task.
            length: number of bytes.
            tgt_addr: destination address at the target.
            org_addr: address of the bytes in this task.
            tgt_cntr: counter at the target, incremented when the data are stored; 0: none.
            org_cntr: counter of this task, incremented when the bytes may be changed; 0: none.
            cmpl_cntr: counter of this task, incremented when the data are stored at the target; 0: none.

        Raises:
            LapiError: an invalid argument, or a call outside of Init and Term.
        """
        check = self._arguments
        async with self._calling("Put"):
            await check.begin("lapi_put", tgt)
            check.data("org_addr", org_addr, length)
            check.remote("tgt_addr", tgt_addr, length)
            check.counters(org_cntr=org_cntr, cmpl_cntr=cmpl_cntr, tgt_cntr=tgt_cntr)
            header = Header(Kind.PUT, size=length, address=tgt_addr, counter=tgt_cntr, completion=cmpl_cntr)
            await self._give(tgt, Message(header, data=org_addr, origin=org_cntr))

    async def Get(
        self, tgt: int, length: int, tgt_addr: int, org_addr: int, tgt_cntr: int = 0, org_cntr: int = 0
    ) -> None:
        """Copy bytes of another task to this task's memory (`LAPI_Get`).

        Args:
            tgt: target task.
            length: number of bytes.
            tgt_addr: address of the bytes at the target.
            org_addr: destination address in this task.
            tgt_cntr: counter at the target, incremented when the bytes may be changed; 0: none.
            org_cntr: counter of this task, incremented when the data are stored; 0: none.

        Raises:
            LapiError: an invalid argument, or a call outside of Init and Term.
        """
        check = self._arguments
        async with self._calling("Get"):
            await check.begin("lapi_get", tgt)
            check.data("org_addr", org_addr, length, write=True)
            check.remote("tgt_addr", tgt_addr, length)
            check.counters(org_cntr=org_cntr, tgt_cntr=tgt_cntr)
            header = Header(Kind.GET, address=tgt_addr, counter=tgt_cntr, completion=org_cntr)
            self._effects.asked += 1
            await self._give(tgt, Message(header._replace(first=org_addr, second=length)))

    async def Amsend(
        self,
        tgt: int,
        hdr_hdl: int,
        uhdr: bytes,
        uhdr_len: int,
        udata: int = 0,
        udata_len: int = 0,
        tgt_cntr: int = 0,
        org_cntr: int = 0,
        cmpl_cntr: int = 0,
    ) -> None:
        """Send an active message, whose header handler at the target returns the destination of the data
        (`LAPI_Amsend`).

        Args:
            tgt: target task.
            hdr_hdl: address of the header handler at the target.
            uhdr: user header.
            uhdr_len: bytes of the user header.
            udata: address of the data in this task.
            udata_len: number of data bytes.
            tgt_cntr: counter at the target, incremented when data and completion handler are complete; 0: none.
            org_cntr: counter of this task, incremented when the data may be changed; 0: none.
            cmpl_cntr: counter of this task, incremented when the target counter would be; 0: none.

        Raises:
            LapiError: an invalid argument, or a call outside of Init and Term.
        """
        check = self._arguments
        async with self._calling("Amsend"):
            await check.begin("lapi_amsend", tgt)
            check.remote("hdr_hdl", hdr_hdl, 1)
            user = check.user(uhdr, uhdr_len)
            check.data("udata", udata, udata_len)
            check.counters(org_cntr=org_cntr, cmpl_cntr=cmpl_cntr, tgt_cntr=tgt_cntr)
            header = Header(Kind.AMSEND, size=udata_len, address=hdr_hdl, counter=tgt_cntr, completion=cmpl_cntr)
            await self._give(tgt, Message(header, user, udata, org_cntr))

    async def Rmw(
        self, op: Rmw, tgt: int, tgt_var: int, in_val: int | tuple[int, int], prev: int = 0, org_cntr: int = 0
    ) -> None:
        """Change a word of another task atomically (`LAPI_Rmw`).

        Args:
            op: operation.
            tgt: target task.
            tgt_var: address of the word at the target.
            in_val: operand; for COMPARE_AND_SWAP the pair (compared value, new value).
            prev: address in this task for the old value; 0: none.
            org_cntr: counter of this task, incremented when the old value is stored; 0: none.

        Raises:
            LapiError: an invalid argument, or a call outside of Init and Term.
        """
        check = self._arguments
        async with self._calling("Rmw"):
            await check.begin("lapi_rmw", tgt)
            operation, first, second = check.operation(op, in_val)
            check.remote_word("tgt_var", tgt_var)
            check.word("prev", prev)
            check.counters(org_cntr=org_cntr)
            header = Header(Kind.RMW, address=tgt_var, counter=org_cntr, completion=prev)
            self._effects.asked += 1
            header = header._replace(first=first, second=second)
            await self._give(tgt, Message(header, OPERATION.pack(operation)))

    # ---- counters

    async def Setcntr(self, cntr: int, val: int) -> None:
        """Set a counter (`LAPI_Setcntr`)."""
        async with self._calling("Setcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            self.memory.put(cntr, whole("val", val))

    async def Getcntr(self, cntr: int) -> int:
        """Process received packets and return a counter's value (`LAPI_Getcntr`)."""
        async with self._calling("Getcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            await self.hal.poll()
            await self.outgoing.timeouts()
            self._failed()
            return self.memory.word(cntr)

    async def Waitcntr(self, cntr: int, val: int) -> int:
        """Wait until a counter is at least `val`, subtract `val`, and return the rest (`LAPI_Waitcntr`)."""
        async with self._calling("Waitcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            whole("val", val)
            await self._until(lambda: self.memory.word(cntr) >= val, f"counter 0x{cntr:x} to become {val}")
            left = self.memory.word(cntr) - val
            self.memory.put(cntr, left)
            return left

    async def Probe(self, condition: Callable[[], bool] | None = None) -> None:
        """Process received packets, once or until a condition holds (`LAPI_Probe`, in addition to the 14)."""
        async with self._calling("Probe"):
            if condition is not None:
                await self._until(condition, "the condition of LAPI_Probe")
                return
            await self.hal.poll()
            await self.outgoing.timeouts()
            self._failed()

    # ---- order

    async def Fence(self) -> None:
        """Wait until the data of all earlier calls of this task are stored (`LAPI_Fence`)."""
        async with self._calling("Fence"):
            await self._fence()

    async def _fence(self) -> None:
        await self.host.spend("lapi_fence", self.tasks)
        await self.outgoing.advance()
        await self.outgoing.ask_all()
        await self._until(lambda: self.outgoing.quiet and not self._effects.asked, "the arrival of its messages")

    async def Gfence(self) -> None:
        """Wait until all tasks call it and all data are stored (`LAPI_Gfence`)."""
        async with self._calling("Gfence"):
            await self._fence()
            await self._collective.barrier()

    async def Address_init(self, my_addr: int) -> list[int]:
        """Exchange an address among all tasks and return the list of them (`LAPI_Address_init`)."""
        async with self._calling("Address_init"):
            await self.host.spend("lapi_fence")
            return await self._collective.exchange(whole("my_addr", my_addr, 0, MASK))

    # ---- environment

    async def Qenv(self, query: Query) -> int:
        """Return a property of this context (`LAPI_Qenv`). Raises LapiError."""
        async with self._calling("Qenv"):
            await self.host.spend("lapi_environment")
            return self.settings.query(query, self.me, self.tasks)

    async def Senv(self, query: Query, val: int) -> None:
        """Set a property of this context (`LAPI_Senv`). Raises LapiError."""
        async with self._calling("Senv"):
            await self.host.spend("lapi_environment")
            self.settings.change(query, val)
            await self._apply()

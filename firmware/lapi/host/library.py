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
"""LAPI's service routine does not wait for further packets (paper 001, 6.5.1)."""


class Lapi:
    """One task: its number is the virtual node number of its host. Addresses are those of its `process`."""

    def __init__(self, host: Host, view: ClusterView, below: Hal, begin: int = 0) -> None:
        """`below`: HAL of this host; `begin`: the first sequence of every pair."""
        self.host, self.hal, self.me, self.tasks = host, below, view.me, len(view.names)
        self.process = host.process("lapi")
        self.settings = Environment(Options.of(view.options))
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

    # ---- what the parts share

    def _task(self) -> object:
        """The task of the simulation that runs now."""
        return self.process.host.scheduler.kernel.current

    async def _own(self, header: Header, body: bytes) -> None:
        await self._incoming.own(header, body)

    def _raise(self, counter: int) -> None:
        self._effects.raise_counter(counter)

    def _fail(self, argument: str, cause: str, remedy: str) -> None:
        """A message of a peer cannot be: the present call of this task says so, or its next one."""
        self._failures.append(Misuse(argument, cause, remedy))

    async def _packet(self, packet: Packet) -> None:
        await self._incoming.packet(packet)
        self._turns.stirred()
        self._watch()

    async def _give(self, target: int, message: Message) -> None:
        """Have a message sent."""
        self.outgoing.give(target, message)
        await self.outgoing.advance()
        self._watch()

    def _watch(self) -> None:
        """In interrupt mode time-outs are seen to while nobody calls LAPI."""
        if self.settings.options.interrupt_set:
            self._turns.start_clock()

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        """Until a condition holds; a report of a hang says what is missing. Raises Misuse for what a peer did."""
        self.host.waits.want(self._who, what)
        await self._turns.until(lambda: condition() or bool(self._failures))
        self.host.waits.got(self._who, what)
        self._failed()

    def _failed(self) -> None:
        if self._failures:
            raise self._failures.pop(0)

    @asynccontextmanager
    async def _calling(self, name: str) -> AsyncIterator[None]:
        """A call. Raises LapiError for one outside of Init and Term or in a header handler, and for what is wrong."""
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

    # ---- begin and end

    async def Init(self) -> None:
        """`LAPI_Init`: make the context."""
        if self._task() in self._running or self._on:
            cause = "LAPI is initialized already"
            raise LapiError(self.me, "LAPI_Init", "", cause, "call it once, before all others")
        await self.hal.start()
        if not self._known:
            self._known = True
            self.hal.on_packet(PROTOCOL, self._packet)
            self.host.waits.ask(lambda: self.outgoing.waits(self._who, self._names))
        self._on = True
        await self._apply()

    async def Term(self) -> None:
        """`LAPI_Term`: end the context, when all that this task has sent is acknowledged. Interrupts stay on, so that
        packets whose acknowledgement was lost are acknowledged again.
        """
        async with self._calling("Term"):
            await self._fence()
            await self.hal.interrupts(True, NO_DELAY_US)
            self._on = False

    def handler(self, function: HeaderHandler) -> int:
        """Where a header handler stands in this program: tasks that run the same program give theirs in one order."""
        return self._functions.place(function)

    async def _apply(self) -> None:
        """The settings, to the parts that need them."""
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
        """`LAPI_Put`: copy bytes of this task to another one's memory."""
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
        """`LAPI_Get`: copy bytes of another task to this one's memory; `org_cntr` rises when they are here."""
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
        """`LAPI_Amsend`: have a header handler of another task say where a user header and data go."""
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
        """`LAPI_Rmw`: change a word of another task at once; its old value goes to `prev`. COMPARE_AND_SWAP takes two
        values: what to compare with, what to store.
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
        """`LAPI_Setcntr`: a counter's value."""
        async with self._calling("Setcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            self.memory.put(cntr, whole("val", val))

    async def Getcntr(self, cntr: int) -> int:
        """`LAPI_Getcntr`: it; takes in what is here first."""
        async with self._calling("Getcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            await self.hal.poll()
            await self.outgoing.timeouts()
            self._failed()
            return self.memory.word(cntr)

    async def Waitcntr(self, cntr: int, val: int) -> int:
        """`LAPI_Waitcntr`: wait until a counter is `val` or more, and take so much off; what is left."""
        async with self._calling("Waitcntr"):
            await self.host.spend("lapi_counter")
            self._arguments.counter(cntr)
            whole("val", val)
            await self._until(lambda: self.memory.word(cntr) >= val, f"counter 0x{cntr:x} to become {val}")
            left = self.memory.word(cntr) - val
            self.memory.put(cntr, left)
            return left

    async def Probe(self, condition: Callable[[], bool] | None = None) -> None:
        """`LAPI_Probe`, beyond the 14: take in what is here; given a condition, again and again until it holds."""
        async with self._calling("Probe"):
            if condition is not None:
                await self._until(condition, "what it polls for")
                return
            await self.hal.poll()
            await self.outgoing.timeouts()
            self._failed()

    # ---- order

    async def Fence(self) -> None:
        """`LAPI_Fence`: wait until the data of all that this task has begun are where they belong."""
        async with self._calling("Fence"):
            await self._fence()

    async def _fence(self) -> None:
        await self.host.spend("lapi_fence", self.tasks)
        await self.outgoing.advance()
        await self.outgoing.ask_all()
        await self._until(lambda: self.outgoing.quiet and not self._effects.asked, "what it has sent to arrive")

    async def Gfence(self) -> None:
        """`LAPI_Gfence`: all tasks call it; it returns when that is so and all data have arrived."""
        async with self._calling("Gfence"):
            await self._fence()
            await self._collective.barrier()

    async def Address_init(self, my_addr: int) -> list[int]:
        """`LAPI_Address_init`: all tasks call it, each with an address; those of all tasks."""
        async with self._calling("Address_init"):
            await self.host.spend("lapi_fence")
            return await self._collective.exchange(whole("my_addr", my_addr, 0, MASK))

    # ---- environment

    async def Qenv(self, query: Query) -> int:
        """`LAPI_Qenv`: a property of this context."""
        async with self._calling("Qenv"):
            await self.host.spend("lapi_environment")
            return self.settings.query(query, self.me, self.tasks)

    async def Senv(self, query: Query, val: int) -> None:
        """`LAPI_Senv`: change one of those that can be."""
        async with self._calling("Senv"):
            await self.host.spend("lapi_environment")
            self.settings.change(query, val)
            await self._apply()

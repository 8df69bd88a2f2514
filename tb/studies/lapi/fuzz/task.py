"""LAPI task of the mixed fuzz test: its memory, its actions, and the expected results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import numpy as np

from firmware.lapi.host import Lapi, LapiError, Place, Query, Rmw
from firmware.lapi.host.handlers import Set
from tb.fuzz.program import Act
from tb.studies.lapi.fuzz.memory import Slice, Words

SIZES = (1, 0, 4, 900, 976, 977, 3000)
SLICE = 4096
OPERATIONS = tuple(Rmw.__members__)
KINDS = (
    *("put", "put", "get", "amsend", "amsend", "amsend", "rmw", "rmw", "fence", "pause", "compute", "probe"),
    *("wait", "interrupts", "acknowledge", "bad"),
)
BAD = ("task", "length", "address", "counter", "operation", "query", "header", "own handler")
ORIGIN, TARGET, COMPLETION, GOT, DONE = range(5)
"""Counters of a task by meaning; TARGET is followed by one for each other task."""
WORDS = 256
"""First of the words changed by `Rmw`."""
TOLD = 300
"""Words that `Set` stores at the sender, one a message; 300 words further is one for each sending task."""


class Task:
    """LAPI task. Slices of memory are numbered by the task that writes them."""

    def __init__(self, lapi: Lapi, tasks: list[Task], wrong: list[str]) -> None:
        self.lapi, self.me, self._tasks, self._wrong = lapi, lapi.me, tasks, wrong
        process, count = lapi.process, lapi.tasks
        self.out, self.here, self.got = (process.allocate(SLICE * count) for _ in range(3))
        self.words = process.allocate(4 * 1024)
        self.data = (np.arange(SLICE) * 7 + (np.arange(SLICE) >> 8) + 31 * self.me).astype(np.uint8).tobytes()
        process.store_bytes(self.out, self.data)
        self.slices = [Slice(SLICE) for _ in range(count)]
        """Expected writes of each task to this one."""
        self.fetched = Slice(SLICE)
        self.due: Counter[int] = Counter()
        """Expected value of each counter of this task, by number."""
        self.changes = Words()
        self.messages: dict[bytes, tuple[Task, Act]] = {}
        """Active messages to this task whose header handler has not run, by user header."""
        self.completing: Counter[bytes] = Counter()
        self.stored: dict[int, int] = {}
        """Expected words of `Set`, by number of the word."""
        self._handler = lapi.handler(self.head)
        self._prev, self._number = process.allocate(4 * 1024), 0

    def word(self, number: int) -> int:
        """Return the address of a word."""
        return self.words + 4 * number

    def _fail(self, said: str) -> None:
        self._wrong.append(f"task {self.me}: {said}")

    async def begin(self) -> None:
        """Initialise LAPI and wait for the other tasks."""
        await self.lapi.Init()
        await self.lapi.Gfence()

    # ---- calls

    def _counters(self, act: Act, target: Task, origin: int) -> dict[str, int]:
        """Return the counters of a call, recording that each must be incremented once."""
        chosen, which = act.whole("counters"), {}
        if chosen & 1:
            which["org_cntr"] = self.word(origin)
            self.due[origin] += 1
        if chosen & 2:
            number = 8 + self.me
            which["tgt_cntr"] = target.word(number)
            target.due[number] += 1
        if chosen & 4 and act.name != "get":
            which["cmpl_cntr"] = self.word(COMPLETION)
            self.due[COMPLETION] += 1
        return which

    async def put(self, act: Act) -> None:
        """Put bytes into this task's slice at another task."""
        target, size, at, start = self._tasks[act.whole("to")], act.whole("size"), act.whole("at"), act.whole("from")
        target.slices[self.me].write(at, self.data[start : start + size])
        place = target.here + SLICE * self.me + at
        await self.lapi.Put(target.me, size, place, self.out + start, **self._counters(act, target, ORIGIN))

    async def get(self, act: Act) -> None:
        """Get constant bytes of another task."""
        target, size, at, start = self._tasks[act.whole("to")], act.whole("size"), act.whole("at"), act.whole("from")
        self.fetched.write(at, target.data[start : start + size])
        await self.lapi.Get(target.me, size, target.out + start, self.got + at, **self._counters(act, target, GOT))

    async def rmw(self, act: Act) -> None:
        """Change a word shared by all tasks and wait for its old value."""
        target, name = self._tasks[act.whole("to")], str(act.values["what"])
        await self._rmw(self.lapi, target, name, act.whole("value"))

    async def _rmw(self, lapi: Lapi, target: Task, name: str, value: int) -> None:
        """Do an `Rmw` with its own reply word and counter; `value` is unique where the operation needs it."""
        self._number += 1
        number, unique = self._number, 1 + self.me + lapi.tasks * self._number
        given = {"FETCH_AND_ADD": value, "FETCH_AND_OR": 1 << value % 31}.get(name, unique)
        prev, counter = self._prev + 8 * (number % 128), self._prev + 8 * (number % 128) + 4
        word = target.word(WORDS + OPERATIONS.index(name))
        in_val = (0, given) if name == "COMPARE_AND_SWAP" else given
        await lapi.Rmw(Rmw[name], target.me, word, in_val, prev, counter)
        left = await lapi.Waitcntr(counter, 1)
        if left:
            self._fail(f"the counter of an Rmw is {left} above")
        target.changes.note(name, given, lapi.process.load_words(prev, 1)[0])

    async def amsend(self, act: Act) -> None:
        """Send an active message whose user header names the action."""
        target, start, size = self._tasks[act.whole("to")], act.whole("from"), act.whole("size")
        self._number += 1
        user = bytes([self.me, self._number >> 8, self._number & 0xFF]).ljust(act.whole("header"), b"\xa5")
        target.messages[user] = self, act
        target.slices[self.me].write(act.whole("at"), self.data[start : start + size])
        then = act.values["then"]
        if then == "set":
            target.stored[TOLD + 300 + self.me] = 1
        elif then == "tell":
            self.stored[TOLD + self._number % 300] = 1
        elif then != "nothing":
            target.completing[user] += 1
        counters = self._counters(act, target, ORIGIN)
        await self.lapi.Amsend(target.me, target._handler, user, len(user), self.out + start, size, **counters)

    async def head(self, source: int, user: bytes, size: int) -> Place:
        """Handle the header of an active message."""
        sender, act = self.messages.pop(bytes(user), (None, None))
        if sender is None or act is None or sender.me != source or act.whole("size") != size:
            self._fail(f"a header handler ran for {bytes(user)[:8].hex()} of task {source} with {size} bytes")
            return Place(self.here, None)
        place, then = self.here + SLICE * source + act.whole("at"), act.values["then"]
        number = int.from_bytes(user[1:3], "big")
        if then == "set":
            return Place(place, Set(self.word(TOLD + 300 + source), 1))
        if then == "tell":
            return Place(place, Set(sender.word(TOLD + number % 300), 1, at_sender=True))
        if then == "nothing":
            return Place(place)
        return Place(place, self.complete, (bytes(user), sender, act))

    async def complete(self, lapi: Lapi, argument: Any) -> None:
        """Complete an active message, possibly with LAPI calls."""
        user, sender, act = argument
        self.completing[user] -= 1
        if act.values["then"] == "rmw":
            await self._rmw(lapi, sender, "FETCH_AND_ADD", 1)
        else:
            sender.due[DONE] += 1
            await lapi.Put(sender.me, 0, sender.words, self.out, tgt_cntr=sender.word(DONE))

    async def fence(self, act: Act) -> None:
        """Fence, and begin a new epoch of the expected memory."""
        await self.lapi.Fence()
        for task in self._tasks:
            task.slices[self.me].epoch += 1
        self.fetched.epoch += 1

    async def wait(self, act: Act) -> None:
        """Wait until a counter of this task has its expected value."""
        number = (ORIGIN, COMPLETION, GOT)[act.whole("value") % 3]
        due, self.due[number] = self.due[number], 0
        await self.lapi.Waitcntr(self.word(number), due)

    async def pause(self, act: Act) -> None:
        """Make no call for some time."""
        await self.lapi.host.sleep(act.whole("us") * 1_000_000, "a pause")

    async def compute(self, act: Act) -> None:
        """Compute on the CPU."""
        await self.lapi.process.compute(1000 * act.whole("us"))

    async def probe(self, act: Act) -> None:
        """Process received packets."""
        await self.lapi.Probe()

    async def interrupts(self, act: Act) -> None:
        """Switch interrupt mode on or off."""
        await self.lapi.Senv(Query.INTERRUPT_SET, act.whole("value") % 2)

    async def acknowledge(self, act: Act) -> None:
        """Set the number of packets acknowledged at a time."""
        await self.lapi.Senv(Query.ACK_PACKETS, 1 + act.whole("value"))

    async def bad(self, act: Act) -> None:
        """Make an invalid call, which must raise."""
        lapi, what, far = self.lapi, str(act.values["what"]), 1 << 30
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "task": partial(lapi.Put, lapi.tasks, 4, self.here, self.out),
            "length": partial(lapi.Put, 0, -1, self.here, self.out),
            "address": partial(lapi.Put, 0, 4, self.here, far),
            "counter": partial(lapi.Waitcntr, self.words + 1, 1),
            "operation": partial(lapi.Rmw, 7, 0, self.words, 1),  # type: ignore[arg-type]
            "query": partial(lapi.Senv, Query.TASK_ID, 1),
            "header": partial(lapi.Amsend, 0, self._handler, b"x" * 2000, 2000),
            "own handler": partial(lapi.Init),
        }
        try:
            await calls[what]()
        except LapiError:
            return
        self._fail(f"wrong call {what!r} was not refused")

    # ---- the end

    async def end(self) -> None:
        """Wait for all expected effects, and check that there are no others."""
        lapi = self.lapi
        await lapi.Gfence()
        await lapi.Probe(lambda: not any((*self.completing.values(), *self.messages)))
        await lapi.Gfence()
        for number, due in sorted(self.due.items()):
            left = await lapi.Waitcntr(self.word(number), due)
            if left:
                self._fail(f"counter {number} has risen {left} times more than {due}")
        await lapi.Gfence()
        await lapi.Term()

    def changed(self) -> list[str]:
        """Return descriptions of differences from the expected memory."""
        load, found = self.lapi.process.load_bytes, []
        for task, one in enumerate([*self.slices, self.fetched]):
            stands = load(self.got if one is self.fetched else self.here + SLICE * task, SLICE)
            at = one.wrong(stands)
            if at is not None:
                found.append(f"byte {at} of what task {task} writes is {stands[at]:#x}")
        if load(self.out, SLICE) != self.data:
            found.append("what it sends has changed")
        for number, name in enumerate(OPERATIONS):
            (now,) = self.lapi.process.load_words(self.word(WORDS + number), 1)
            wrong = self.changes.wrong(name, now)
            found += [wrong] if wrong else []
        for number, value in self.stored.items():
            if self.lapi.process.load_words(self.word(number), 1)[0] != value:
                found.append(f"word {number} is not stored")
        if not self.lapi.outgoing.quiet or self.lapi.hal.keepable != 48:
            found.append("packets are not acknowledged, or send buffers kept")
        return [f"task {self.me}: {one}" for one in found]

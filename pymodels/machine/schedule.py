"""Controlled schedule of a machine: the possible next transitions are a list of turns, from which the caller chooses.

Delays are ignored. The transitions of one part (a processor, a bus, an engine) happen in the order in which they began;
parts may have any relative speed. All orders that any timing could produce are therefore among the choices. A polling
loop with several hits may notice any of them, since its position depends on timing too.

Time advances only when a timer fires, so that software that reads the clock finds the timer expired.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from pymodels.kernel import Future, Kernel, Task, Why
from pymodels.machine.log import TraceLog
from pymodels.machine.net_send import NetSend
from pymodels.machine.network import Flight, ModelNetwork
from pymodels.machine.spin import Spin
from pymodels.topology import End
from pymodels.waiting import unit_of

INTERRUPT = "interrupt latency"
PIO_READ = "a PIO read"
TIMER = "timer"
BUS = "bus"


@dataclass(frozen=True)
class Turn:
    """Possible next transition."""

    part: str
    """Part that makes the transition."""
    what: str
    """Description of the transition."""
    take: Callable[[], None]
    is_timer: bool = False
    sends: bool = False
    """True if a packet may enter the network."""


class TurnKernel(Kernel):
    """Kernel that runs in time until `choose`; afterwards `turns` returns the possible transitions."""

    def __init__(self, fine: bool) -> None:
        """Create a kernel that runs in time.

        Args:
            fine: True if the end of each piece of software is a turn. False if instructions take no time: software runs
                until it waits for another part.
        """
        super().__init__()
        self.choosing = False
        self._fine = fine
        self.owners: dict[int, str] = {}
        """Name of the part that an engine belongs to, by identity of the engine."""
        self.lanes: dict[str, deque[tuple[int, Callable[[], None]]]] = {}
        """Pending transitions of each part, with their time without a controlled schedule."""
        self.looking: list[TurnSpin] = []
        """Running polling loops."""
        self._part = ""
        """Part of the next alarm, if it is not that of the alarm's owner."""

    def choose(self) -> None:
        """Switch to chosen turns. Raises RuntimeError unless the machine is idle."""
        if self._alarms or self.ready:
            raise RuntimeError("something is under way: let the machine become idle before turns are chosen")
        self.choosing = True
        for spin in self.looking:
            spin.leave_time()

    def at(self, time_ps: int, call: Callable[[], None]) -> None:
        """See `Kernel`: append a transition to the queue of its part."""
        if not self.choosing:
            super().at(time_ps, call)
            return
        owner = _owner(call)
        if isinstance(owner, TraceLog):
            return
        if getattr(call, "__func__", None) is NetSend._pump:  # only the engine observes it
            call()
            return
        part = self._part or self.owners.get(id(owner), "")
        if not part:
            assert self.current is not None
            part = f"{unit_of(self.current.name)}: processor"
        lane = self.lanes.setdefault(part, deque())
        if TIMER in part:  # a timer set again
            lane.clear()
        lane.append((max(time_ps, self.now) | 1, call))

    def sleep(self, duration_ps: int, why: Why = "time") -> Future[None]:
        """See `Kernel`: set a timer of the present task."""
        assert self.current is not None
        self._part = self._own_lane(f"{self.current.name}: {'interrupt' if why == INTERRUPT else TIMER}")
        try:
            return super().sleep_until(self.now + duration_ps, why)
        finally:
            self._part = ""

    def _own_lane(self, part: str) -> str:
        """Return a name for the part that no other sleeping task uses."""
        names = (f"{part} {number}" if number > 1 else part for number in count(1))
        return next(name for name in names if not self.lanes.get(name))

    def sleep_until(self, time_ps: int, why: Why = "time") -> Future[None]:
        """See `Kernel`: keep a processor busy, or wait for the bus after all earlier stores."""
        if not self.choosing:
            return super().sleep_until(time_ps, why)
        assert self.current is not None
        if why == PIO_READ:
            self._part = f"{unit_of(self.current.name)}: {BUS}"
        elif not self._fine:
            over = self.future(why)
            over.set(None)
            return over
        try:
            return super().sleep_until(time_ps, why)
        finally:
            self._part = ""

    def waiter(self, part: str) -> Task:
        """Return the task that waits for the next transition of a part."""
        future = _owner(self.lanes[part][0][1])
        return next(task for task in self.tasks if task.waits_for is future)

    def turns(self) -> list[Turn]:
        """Return the possible transitions in a fixed order. Ready tasks precede everything else."""
        if self.ready:
            return [Turn(unit_of(task.name), "goes on", partial(self._resume, task)) for task in self.ready]
        found = [self._next(part, lane) for part, lane in sorted(self.lanes.items()) if lane]
        for spin in self.looking:
            found += spin.turns()
        return found

    def take(self, turn: Turn) -> None:
        """Take a turn, and all following steps without alternative."""
        turn.take()
        self.settle()

    def settle(self) -> None:
        """Run the ready task while there is exactly one."""
        while len(self.ready) == 1:
            self._resume(self.ready[0])

    def _next(self, part: str, lane: deque[tuple[int, Callable[[], None]]]) -> Turn:
        call = lane[0][1]
        sends = getattr(_owner(call), "ends_packet", False) is True
        return Turn(part, described(call), partial(self._fire, lane), TIMER in part, sends)

    def _fire(self, lane: deque[tuple[int, Callable[[], None]]]) -> None:
        time, call = lane.popleft()
        self.now = max(self.now, time)
        call()

    def _resume(self, task: Task) -> None:
        self.ready.remove(task)
        self.current = task
        try:
            future = task.resume(None)
        except StopIteration as stop:
            del self.tasks[task]
            task.finished.set(stop.value)
            return
        if future.done:
            self.ready.append(task)
        else:
            task.waits_for = future
            future.tasks += (task,)


class TurnSpin(Spin):
    """Polling loop whose hit is chosen among all steps that hold, regardless of its position."""

    async def run(self, start: int | None = None) -> int:
        """See `Spin`."""
        kernel = self._kernel
        assert isinstance(kernel, TurnKernel)
        kernel.looking.append(self)
        try:
            if not kernel.choosing:
                return await super().run(start)
            self._hit = Future(kernel, self._why)
            return await self._hit
        finally:
            kernel.looking.remove(self)

    def leave_time(self) -> None:
        """Switch a running loop from memory notifications to turns."""
        self._memory.spins.remove(self)

    def turns(self) -> Iterator[Turn]:
        """Yield a turn for each step that may hit now."""
        if self._hit is None:
            return
        seen: dict[int, int] = {}
        for step, look in enumerate(self._looks):
            if self._holds(step, seen):
                where = f"bits {look.mask:#x} of its register" if look.register else f"the word at {look.address:#x}"
                yield Turn(self._why, f"notices {where}", partial(self._notice, step))

    def _notice(self, step: int) -> None:
        hit, self._hit = self._hit, None
        assert hit is not None
        hit.set(step)

    def expect(self, step: int, value: int) -> None:
        """See `Spin`."""
        assert isinstance(self._kernel, TurnKernel)
        hit = self._hit
        if self._kernel.choosing:
            self._hit = None  # hits are chosen, not scheduled
        super().expect(step, value)
        self._hit = hit


class TurnNetwork(ModelNetwork):
    """Network that, once `out` is set, passes each complete packet from a NIC to that function."""

    out: Callable[[int, bytes], None] | None = None
    """Function called with the source and all bytes of a packet, route first."""

    def carry(self, flight: Flight, data: bytes, tail: bool) -> None:
        """See `ModelNetwork`."""
        if self.out is None:
            super().carry(flight, data, tail)
            return
        flight.pending.append((data, len(data), tail))
        if tail:
            packet = b"".join(piece for piece, _, _ in flight.pending)
            self._input[flight.source].clear()
            self.out(flight.source, packet)

    def release(self, flight: Flight, size: int, tail: bool) -> None:
        """See `ModelNetwork`."""
        if self.out is None:
            super().release(flight, size, tail)

    def deliver(self, node: int, data: bytes, damaged: bool) -> None:
        """Deliver a packet without its route to a NIC, which must be armed."""
        flight = Flight(self, node, End("", 0))
        flight.key, flight.crc_error = int.from_bytes(data[:4], "big"), int(damaged)
        self.receivers[node].offer(flight, data, len(data), True)


def _owner(call: Any) -> object:
    """Return the object that an alarm belongs to: of a method, of a partial, or of a function inside a method."""
    while isinstance(call, partial):
        call = call.func
    if hasattr(call, "__self__"):
        return call.__self__
    for name, cell in zip(call.__code__.co_freevars, call.__closure__ or (), strict=True):
        if name == "self":
            return cell.cell_contents
    return None


def described(call: Any) -> str:
    """Return a description of an alarm."""
    owner = _owner(call)
    if isinstance(owner, Future):
        return str(owner.why)
    name = getattr(call.func if isinstance(call, partial) else call, "__qualname__", "")
    return name.split(".<locals>")[0].rpartition(".")[2].strip("_")

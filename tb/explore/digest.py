"""Hash of the state of a part: two states with equal hashes behave equally from then on.

Memories are hashed as they are. All other state is collected from the part's objects and from the frames of its
coroutines, including loop iterators and partially evaluated expressions. State without effect is left out: counters
that nothing reads, traces, texts of reports. A time of the NIC's clock counts as expired, or as the remaining time. A
time of a host counts as in the future, or by its age.
"""

from __future__ import annotations

import gc
import hashlib
import random
import sys
import types
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymodels.kernel import Future, Kernel, Task
from pymodels.machine.log import TraceLog
from pymodels.machine.memory import Memory
from pymodels.machine.network import ModelNetwork
from pymodels.machine.spin import CpuTime
from pymodels.machine.timing import Timing
from pymodels.machine.world import World
from pymodels.waiting import Waits, Wanted
from tb.explore.liveness import live

TICKS = 0x2A00_0000
"""Initial value of the NICs' clock, in a range without addresses: a number near it is a time."""
NEAR = 1 << 20
"""Half the width in ticks of the range of numbers that count as times."""
PICOSECONDS = 1 << 62
"""Lower bound of times in picoseconds."""
AGE, AGES = 1 << 36, 16
"""Resolution in picoseconds, and number of classes, of the ages of past times. Time limits in a world are a second, and
everything else together takes less than one AGE.
"""

COUNTS = {
    "TurnSpin": "_origin _due _due_step _generation _why _last _first _round _all _ends _words _registers",
    "ModelNic": "_costs",
    "ModelHost": "_costs _bus_free _polled",
    "Event": "_why",
    "NetSend": "packets _head _outstanding",
    "NetReceive": "packets crc_bad",
    "HostDma": "blocks check_grant",
    "WordDma": "check_grant transfers",
    "Scheduler": "switches _since",
    "FifoWindow": "_writers _readers",
    "SpecialRegisters": "_reads _writes",
}
"""Attributes of each class that only count, time or describe, or never change."""
LEFT_OUT = frozenset(
    {
        *("Machine", "Topology", "Routes", "CardMap", "ClusterView", "Frames", "Far"),
        *(f"{owner}.{name}" for owner, names in COUNTS.items() for name in names.split()),
    }
)
"""Attributes and whole classes that are left out of the hash; a world adds those of its layer."""
OPAQUE = (Kernel, TraceLog, Waits, ModelNetwork, World, Timing, CpuTime, random.Random, type, types.ModuleType)
"""Classes of which only the name is hashed, since a node does not own the object or it has no relevant state."""
FRAMES = ("cr_frame", "gi_frame", "ag_frame")
"""Attributes of coroutines and generators that hold their frame."""
ATOMS = (str, bytes, float, bool, type(None))


class Plan(NamedTuple):
    """Attributes that define the state of a class's objects."""

    hidden: bool
    """True if the class is left out."""
    slots: tuple[str, ...]
    left_out: frozenset[str]
    """Attributes that are left out."""


class Digest:
    """Hash function for the states of one part."""

    def __init__(
        self,
        memories: Iterable[tuple[Memory, list[tuple[int, int]]]],
        left_out: Iterable[str],
        now: Callable[[], tuple[int, int]],
    ) -> None:
        """Create a hash function.

        Args:
            memories: Memories, each with the ranges (begin, end) that nothing reads.
            left_out: Classes and attributes to leave out in addition to LEFT_OUT.
            now: Function that returns the present time in picoseconds and in ticks.
        """
        self._memories = list(memories)
        self._left_out = LEFT_OUT | set(left_out)
        self._now = now
        self._plans: dict[type, Plan] = {}
        self._seen: dict[int, int] = {}
        self._keep: list[object] = []
        self._out: list[object] = []
        self._ps = self._ticks = 0

    def hash(self, *roots: object) -> bytes:
        """Return the hash of the objects and the memories, 16 bytes."""
        self._seen, self._keep, self._out = {}, [], []
        self._ps, self._ticks = self._now()
        for root in roots:
            self._add(root)
        whole = hashlib.blake2b(repr(self._out).encode(), digest_size=16)
        for memory, blind in self._memories:
            at = 0
            for begin, end in [*blind, (memory.size, memory.size)]:
                whole.update(memoryview(memory.data)[at:begin])
                at = end
        self._seen, self._keep, self._out = {}, [], []
        return whole.digest()

    def tokens(self, *roots: object) -> list[object]:
        """Return the hashed values except memories, to find the difference between two states."""
        self._seen, self._keep, self._out = {}, [], []
        self._ps, self._ticks = self._now()
        for root in roots:
            self._add(root)
        return self._out

    def _add(self, value: Any) -> None:
        kind = type(value)
        if kind is int:
            self._out.append(self._number(value))
        elif kind in ATOMS:
            self._out.append(value)
        elif isinstance(value, Enum):
            self._out.append(value.value)
        elif kind is tuple or isinstance(value, tuple):
            self._many("(", value)
        elif isinstance(value, OPAQUE):
            self._out.append(kind.__name__)
        elif id(value) in self._seen:
            self._out.append(("=", self._seen[id(value)]))
        else:
            self._seen[id(value)] = len(self._seen)
            self._keep.append(value)
            self._add_object(value, kind)

    def _number(self, value: int) -> object:
        if value >= PICOSECONDS:
            return value > self._ps or ("ages", min((self._ps - value) // AGE, AGES))
        if TICKS - NEAR <= value < TICKS + NEAR:
            return ("tick", max(0, value - self._ticks))
        return value

    def _many(self, mark: str, values: Iterable[object]) -> None:
        self._out.append(mark)
        for value in values:
            self._add(value)
        self._out.append(")")

    def _add_object(self, value: Any, kind: type) -> None:
        known = _KINDS.get(kind)
        if known is not None:
            known(self, value)
        elif isinstance(value, dict):
            self._many("{", (part for item in value.items() for part in item))
        elif isinstance(value, Memory):
            self._out.append(value.name)
        else:
            self._add_plain(value, kind)

    def _add_list(self, value: list[Any] | deque[Any]) -> None:
        if value and set(map(type, value)) <= {int, bool} and max(value) < TICKS - NEAR:
            self._out.append(list(value))
        else:
            self._many("[", value)

    def _add_set(self, value: set[Any]) -> None:
        self._out.append(sorted(map(repr, value)))

    def _add_bytes(self, value: bytearray) -> None:
        self._out.append(bytes(value))

    def _add_view(self, value: memoryview) -> None:
        place = np.frombuffer(value, np.uint8).__array_interface__["data"][0] if len(value) else 0
        self._out.append(("view", place, len(value)))

    def _add_future(self, value: Future[Any]) -> None:
        self._out.append(("future", value.done, tuple(task.name for task in value.tasks)))
        if value.done:
            self._add(value.value)

    def _add_task(self, value: Task) -> None:
        self._out.append(("task", value.name))
        self._add(value.resume.__self__)  # type: ignore[attr-defined]
        self._add(value.finished)

    def _add_coroutine(self, value: Any) -> None:
        frame = next(getattr(value, name) for name in FRAMES if hasattr(value, name))
        if frame is None:
            self._out.append("ended")
            return
        self._out.append((value.__qualname__, frame.f_lasti))
        self._many("<", _that_matter(frame, _held(value, frame)))

    def _add_step(self, value: Any) -> None:
        """Add the awaitable of an asynchronous generator's next value."""
        self._many(type(value).__name__, gc.get_referents(value))

    def _add_function(self, value: types.FunctionType) -> None:
        self._out.append(value.__qualname__)
        for cell in value.__closure__ or ():
            self._add(cell)

    def _add_cell(self, value: types.CellType) -> None:
        try:
            self._add(value.cell_contents)
        except ValueError:
            self._out.append("empty")

    def _add_method(self, value: types.MethodType) -> None:
        self._out.append(value.__func__.__qualname__)
        self._add(value.__self__)

    def _add_builtin(self, value: types.BuiltinMethodType) -> None:
        self._out.append(value.__name__)
        self._add(value.__self__)

    def _add_partial(self, value: partial[Any]) -> None:
        self._add(value.func)
        self._add(value.args)

    def _add_plain(self, value: Any, kind: type) -> None:
        """Add an object with attributes, or an iterator by its reconstruction."""
        self._out.append(kind.__qualname__)
        plan = self._plans.get(kind)
        if plan is None:
            plan = self._plans[kind] = self._plan(kind)
        if plan.hidden:
            return
        attributes = getattr(value, "__dict__", None)
        if attributes is None and not plan.slots:
            self._add_iterator(value)
            return
        for name in plan.slots:
            if hasattr(value, name):
                self._out.append(name)
                self._add(getattr(value, name))
        for name, part in (attributes or {}).items():
            if name not in plan.left_out:
                self._out.append(name)
                self._add(part)

    def _plan(self, kind: type) -> Plan:
        classes = {base.__name__ for base in kind.__mro__}
        left_out = {name for owner, _, name in (one.partition(".") for one in self._left_out) if owner in classes}
        slots = [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]
        return Plan("" in left_out, tuple(name for name in slots if name not in left_out), frozenset(left_out))

    def _add_iterator(self, value: Any) -> None:
        made = value.__reduce__()
        self._many("iterator", made[1:])


def _held(value: object, frame: types.FrameType) -> list[object]:
    """Return the objects of a suspended frame: bound variables, cells, operands of partially evaluated expressions."""
    if sys.version_info >= (3, 11):
        held = gc.get_referents(value)
        return held[max(place for place, part in enumerate(held) if part is frame.f_code) + 1 :]
    others = {id(frame.f_code), id(frame.f_globals), id(frame.f_builtins), id(frame.f_locals)}
    return [part for part in gc.get_referents(frame) if id(part) not in others]


def _that_matter(frame: types.FrameType, held: list[object]) -> list[object]:
    """Return the relevant objects of a suspended frame: live variables, and operands of partially evaluated
    expressions.
    """
    code, bound = frame.f_code, frame.f_locals
    cells = set(code.co_cellvars)
    if sys.version_info >= (3, 11):
        variables = [name for name in code.co_varnames if name in cells or name in bound]
    else:  # cells follow the variables, and a parameter in a cell leaves its place empty
        variables = [name for name in code.co_varnames if name not in cells and name in bound]
    needed = live(code, frame.f_lasti) | cells
    dead = {place for place, name in enumerate(variables) if name not in needed}
    return [part for place, part in enumerate(held) if place not in dead]


async def _nothing() -> AsyncIterator[None]:
    yield


def _step_kind() -> type:
    """Return the class of the awaitable of an asynchronous generator's next value, which has no name in `types`."""
    return type(_nothing().asend(None))  # type: ignore[attr-defined]


_KINDS: dict[type, Callable[[Digest, Any], None]] = {
    list: Digest._add_list,
    deque: Digest._add_list,
    set: Digest._add_set,
    frozenset: Digest._add_set,
    bytearray: Digest._add_bytes,
    memoryview: Digest._add_view,
    Future: Digest._add_future,
    Task: Digest._add_task,
    types.CoroutineType: Digest._add_coroutine,
    types.GeneratorType: Digest._add_coroutine,
    types.AsyncGeneratorType: Digest._add_coroutine,
    _step_kind(): Digest._add_step,
    types.FunctionType: Digest._add_function,
    types.CellType: Digest._add_cell,
    types.MethodType: Digest._add_method,
    types.BuiltinMethodType: Digest._add_builtin,
    partial: Digest._add_partial,
    types.MappingProxyType: lambda digest, value: digest._add(dict(value)),
    Wanted: lambda digest, value: None,
}

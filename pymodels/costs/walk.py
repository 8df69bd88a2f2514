"""Counter of the likely path of a function: instructions, loads, stores, uncached accesses, stall clocks.

A conditional branch is not taken unless the code after it is marked OFF_PATH; an unconditional branch is followed; an
instruction in a delay slot is executed in both cases. A path has no loops and no calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pymodels.costs.assembly import RETURN, CostError, Flow, Function, Instruction, Label, Mark
from pymodels.costs.schedule import Schedule
from pymodels.lanai.clocks import Way

HAND_OVER = ("read", "write")
"""Marks of register accesses whose instruction the verb issues: an uncached access without an instruction."""
SILENT = ("pio_write", "pio_read")
"""Marks of accesses over the bus, whose time the verbs account for."""


@dataclass(frozen=True)
class PathCost:
    """Cost of a path on its processor."""

    instructions: int
    loads: int = 0
    stores: int = 0
    uncached: int = 0
    stalls: tuple[int, ...] = ()
    """Stall clocks of the path for load delays of 1, 2, ... clocks."""

    def waits(self, delay: int) -> int:
        """Return the stall clocks for a load delay. Raises CostError for a delay that was not counted."""
        if not 0 <= delay <= len(self.stalls):
            known = f"stalls are counted for loads that are 0 to {len(self.stalls)} clocks late"
            remedy = "set processor.load_clocks to one of them, or run python -m pymodels.costs.compile"
            raise CostError(f"a load that is {delay} clocks late", known, remedy)
        return self.stalls[delay - 1] if delay else 0


@dataclass(frozen=True)
class Passed:
    """Instruction executed by a path, including those of verbs."""

    item: int
    """Index in the function. The instructions of a jump back share one index."""
    uses: frozenset[str] = frozenset()
    brings: str = ""
    way: Way = Way.NONE
    by_verb: bool = False


@dataclass
class Walk:
    """Walk in progress through the items of one function."""

    function: Function
    where: str
    at: int = 0
    steps: list[str] = field(default_factory=list)
    cost: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("instructions", "loads", "stores", "uncached"), 0)
    )
    visited: set[int] = field(default_factory=set)
    sampling: bool = False
    sharing: int = 0
    """Number of following accesses that go to uncacheable memory."""
    path: list[Passed] = field(default_factory=list)
    """Executed instructions in order."""

    def run(self, delays: Sequence[int] = ()) -> PathCost:
        """Walk to the return and return the cost. Raises CostError with function, instruction and remedy."""
        while self._step():
            pass
        return PathCost(**self.cost, stalls=tuple(_stalls(self.path, delay) for delay in delays))

    def _fail(self, cause: str, remedy: str) -> CostError:
        return CostError(f"{self.where}: path {self.function.name!r}", cause, remedy)

    def _step(self) -> bool:
        """Process one item. Return False at the return."""
        if self.at >= len(self.function.items):
            raise self._fail("runs off its end", "end the function with a return")
        item = self.function.items[self.at]
        if self.at in self.visited:
            raise self._fail("runs in a circle", "one turn of a loop is a path; repeat it with times=")
        self.visited.add(self.at)
        self.at += 1
        if isinstance(item, Mark):
            self._mark(item)
        elif isinstance(item, Instruction):
            return self._instruction(item)
        return True

    def _mark(self, mark: Mark) -> None:
        """Count the accesses that a mark of firmware/paths.h represents."""
        if mark.word == "off":
            raise self._fail(
                f"enters the block OFF_PATH({mark.rest!r})", "say LIKELY or UNLIKELY in the condition before it"
            )
        if mark.word == "sample":
            self.sampling = True
        elif mark.word == "shared":
            self.sharing += 1
        elif mark.word == "again":
            self._again()
        elif mark.word in HAND_OVER:
            self.cost["uncached"] += 1
            self.steps.append(f"({mark.word} {mark.rest}, by the verb)")
            self._hand_over(mark)
        elif mark.word not in SILENT:
            raise self._fail(f"has an unknown mark @{mark.word}", "use the macros of firmware/paths.h")

    def _hand_over(self, mark: Mark) -> None:
        """Record the verb's instruction, which uses the value of a write and loads that of a read."""
        register = mark.rest.split()[-1].removeprefix("%")
        brings = register if mark.word == "read" else ""
        self.path.append(Passed(self.at - 1, frozenset({register}), brings, Way.REGISTER, by_verb=True))

    def _again(self) -> None:
        """Count an unconditional jump, with its delay slot on a target that has delay slots."""
        slots = any(isinstance(item, Instruction) and item.delay_slots for item in self.function.items)
        count = 2 if slots else 1
        self.cost["instructions"] += count
        self.steps.append(f"(jump back, {count} instructions)")
        self.path += [Passed(self.at - 1)] * count

    def _instruction(self, one: Instruction) -> bool:
        """Count an instruction and follow its flow of control. Return False at the return."""
        if one.refused:
            raise self._fail(f"has {one.text!r}: {one.refused}", "write it in another way")
        if one.flow is Flow.CALL:
            raise self._fail(
                f"calls {one.target} ({one.text!r})", "make the callee `static inline`, or give it a path of its own"
            )
        self._count(one, slot=False)
        target = self._target(one)
        for _ in range(one.delay_slots):
            self._slot(one)
        if one.flow is Flow.RETURN:
            return False
        if target is not None:
            self.at = target
        return target is None or one.target != RETURN

    def _count(self, one: Instruction, slot: bool) -> None:
        """Count an instruction. Those of the function's frame are not counted, except in a delay slot as a nop."""
        if one.frame and not slot:
            return
        self.cost["instructions"] += 1
        self.steps.append(one.text + (" (frame, as a nop)" if one.frame else ""))
        if one.frame:
            self.path.append(Passed(self.at - 1))
            return
        way = Way.REGISTER if self.sampling else Way.SRAM if one.loads + one.stores else Way.NONE
        self.path.append(Passed(self.at - 1, one.uses, one.brings, way))
        if self.sampling:
            self.cost["uncached"] += 1
            self.sampling = False
            return
        if self.sharing and one.loads + one.stores:
            self.cost["uncached"] += 1
            self.sharing -= 1
            return
        self.cost["loads"] += one.loads
        self.cost["stores"] += one.stores

    def _slot(self, branch: Instruction) -> None:
        """Count the instruction in a delay slot."""
        item = self.function.items[self.at] if self.at < len(self.function.items) else None
        if not isinstance(item, Instruction) or item.flow is not Flow.NEXT:
            raise self._fail(
                f"has no plain instruction in the delay slot of {branch.text!r}", "report the compiler's output"
            )
        self.at += 1
        self._count(item, slot=branch.flow is not Flow.RETURN)

    def _target(self, one: Instruction) -> int | None:
        """Return the index to continue at after `one` and its delay slots, or None for the next item."""
        if one.flow not in (Flow.JUMP, Flow.BRANCH):
            return None
        target = self._index(one)
        if one.flow is Flow.JUMP:
            return target
        if target in self.visited:
            raise self._fail(f"has a loop ({one.text!r})", "one turn of a loop is a path; repeat it with times=")
        return target if self._off_path(self.at + one.delay_slots) else None

    def _index(self, one: Instruction) -> int:
        """Return the index of a jump's label, or that of the end for a branch that returns."""
        if one.target == RETURN:
            return len(self.function.items)
        for index, item in enumerate(self.function.items):
            if isinstance(item, Label) and item.name == one.target:
                return index
        raise self._fail(
            f"jumps out of the function to {one.target}",
            "make the callee `static inline`, or give it a path of its own",
        )

    def _off_path(self, index: int) -> bool:
        """Return True if the block at `index` is marked OFF_PATH; the block ends at a jump or a label that
        jumps use.
        """
        entered = False
        for item in self.function.items[index:]:
            if isinstance(item, Mark) and item.word == "off":
                return True
            if isinstance(item, Instruction):
                entered = True
                if item.flow is not Flow.NEXT:
                    return False
            if isinstance(item, Label) and entered and self._is_target(item):
                return False
        return False

    def _is_target(self, label: Label) -> bool:
        """Return True if a jump uses `label`; other labels only number the blocks."""
        return any(isinstance(item, Instruction) and item.target == label.name for item in self.function.items)


def walk(function: Function, where: str, delays: Sequence[int] = ()) -> PathCost:
    """Return the cost of the likely path of `function`.

    Args:
        function: The function.
        where: Its file, for errors.
        delays: Load delays in clocks for which stalls are counted.
    """
    return Walk(function, where).run(delays)


def _stalls(path: Sequence[Passed], delay: int) -> int:
    """Return the stall clocks of a path for a load delay."""
    schedule = Schedule(delay)
    for one in path:
        schedule.issue(one.uses, one.brings)
    return schedule.stalls


def explain(function: Function, where: str) -> list[str]:
    """Return the counted instructions in the order of execution."""
    walker = Walk(function, where)
    walker.run()
    return walker.steps

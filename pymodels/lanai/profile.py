"""Profiler: clocks of a program by function and by source line, and the trace of its instructions as text.

Both accept each step with its clocks, from `pymodels.lanai.clocks` or from the RTL core.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pymodels.lanai.clocks import Spent
from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.program import Program
from pymodels.lanai.simulator import Access, Step

HEADINGS = ("clocks", "%", "instructions", "load", "fetch", "grant", "register", "where")


@dataclass
class Row:
    """Instruction count and clocks of one place."""

    instructions: int = 0
    spent: Spent = field(default_factory=lambda: Spent(own=0))


class Profile:
    """Clocks of a run by instruction address."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._by_address: defaultdict[int, Row] = defaultdict(Row)

    @classmethod
    def counted(cls, program: Program, counts: Sequence[Sequence[int]]) -> Profile:
        """Return the profile from the counters of the RTL core: for each program word the number of executions, then
        the stall clocks for fetch, load, grant and register.
        """
        profile = cls(program)
        for number, (executions, *waits) in enumerate(counts):
            if executions:
                profile._by_address[program.base + 4 * number] = Row(executions, Spent(executions, *waits))
        return profile

    def add(self, step: Step, spent: Spent) -> None:
        """Add one executed instruction."""
        row = self._by_address[step.pc]
        row.instructions += 1
        row.spent += spent

    @property
    def clocks(self) -> int:
        """Total clocks of the run."""
        return sum(row.spent.clocks for row in self._by_address.values())

    def functions(self) -> Mapping[str, Row]:
        """Return the clocks by function, most clocks first. Inlined code counts for the function in which it was
        written.
        """
        return self._sums(self._function)

    def lines(self) -> Mapping[str, Row]:
        """Return the clocks by `file:line`, most clocks first. Inlined code counts for the line where it was
        written.
        """
        return self._sums(self._line)

    def _function(self, address: int) -> str:
        return self._program.places(address)[-1].function

    def _line(self, address: int) -> str:
        one = self._program.line(address)
        return f"{one.file}:{one.line}" if one is not None else self._function(address)

    def _sums(self, place: Callable[[int], str]) -> Mapping[str, Row]:
        found: defaultdict[str, Row] = defaultdict(Row)
        for address, row in self._by_address.items():
            one = found[place(address)]
            one.instructions += row.instructions
            one.spent += row.spent
        return dict(sorted(found.items(), key=lambda item: (-item[1].spent.clocks, item[0])))


def table(rows: Mapping[str, Row]) -> Iterator[str]:
    """Yield a profile as lines of text, with the share of each place."""
    whole = sum(row.spent.clocks for row in rows.values())
    yield "".join(f"{heading:>13}" for heading in HEADINGS[:-1]) + f"  {HEADINGS[-1]}"
    for where, row in rows.items():
        one = row.spent
        numbers = (row.instructions, one.load, one.fetch, one.grant, one.register)
        share = f"{100 * one.clocks / whole:.1f}"
        yield f"{one.clocks:>13}{share:>13}" + "".join(f"{number:>13}" for number in numbers) + f"  {where}"


def traced(clock: int, step: Step, program: Program) -> str:
    """Return an executed instruction as a line: clock, address, function, text, written registers and access."""
    effects = [f"r{number} = {value:#x}" for number, value in step.writes]
    if step.access is not None:
        effects.append(_accessed(step.access))
    text = f"{clock:>10}  {step.pc:06x}  {program.symbol(step.pc):<24}  {disassembled(step.instruction.word):<32}"
    return f"{text}  {', '.join(effects)}".rstrip()


def _accessed(access: Access) -> str:
    place = f"register {access.address:#x}" if access.register else f"{access.size} B at {access.address:#x}"
    return f"{place} {'<-' if access.stores else '->'} {access.value:#x}"

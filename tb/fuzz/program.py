"""A program: what is drawn from one seed, as plain values that read well."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pymodels.kernel import Kernel

Value = int | str


@dataclass(frozen=True)
class Act:
    """One operation of one node. Numbers that name a block or a tree count round those that are there when it runs."""

    node: int
    name: str
    values: Mapping[str, Value] = field(default_factory=dict)
    task: int = 0
    """Which of the node's tasks does it."""
    who: str = "node"
    """What `node` counts: nodes, or connections."""
    pause_ps: int = 0
    """Simulated time that passes before the act."""

    def __str__(self) -> str:
        values = "".join(f" {name}={value}" for name, value in self.values.items())
        values += f" after {self.pause_ps} ps" if self.pause_ps else ""
        return f"{self.who} {self.node}{'+' * self.task}: {self.name}{values}"

    async def pause(self, kernel: Kernel) -> None:
        """Let the time before the act pass."""
        if self.pause_ps:
            await kernel.sleep(self.pause_ps, "a pause of the program")

    def whole(self, name: str) -> int:
        """A value that is a number."""
        return int(self.values[name])


@dataclass(frozen=True)
class Program:
    """What every node does, and under which conditions."""

    nodes: int
    nic: str
    """The kind of every NIC."""
    options: Mapping[str, Value]
    """Of the message layer; those that are not here have their defaults."""
    faults: Mapping[str, int]
    """Of the network, in thousandths of the packets, and `seed`."""
    acts: tuple[Act, ...]
    """Each node's tasks do theirs in this order."""
    asked: Mapping[str, Value] = field(default_factory=dict)
    """What the configuration file asks for, in the layer's words."""
    chips: int = 0
    """Node chips of a board of the SP, and as many routes a pair; 0: one switch."""
    in_c: str = ""
    """A letter a node: `c` where the NIC executes the layer's firmware in C. Empty: nowhere."""

    def __str__(self) -> str:
        options = " ".join(f"{name}={value}" for name, value in self.options.items()) or "all defaults"
        faults = " ".join(f"{name}={value}" for name, value in self.faults.items()) or "none"
        head = [f"{self.nodes} nodes, {self.nic}", f"options: {options}", f"faults: {faults}"]
        if self.in_c:
            head[0] += f", firmware {self.in_c}"
        if self.asked:
            head.append("configuration: " + " ".join(f"{name}={value}" for name, value in self.asked.items()))
        return "\n".join([*head, *(f"  {act}" for act in self.acts)])


def with_pauses(program: Program, most_us: int, seed: int) -> Program:
    """Return the program with a pause of 0 to `most_us` us before each act, drawn to the picosecond by `seed`."""
    if not most_us:
        return program
    draw = random.Random(f"pauses {seed}")
    acts = (replace(act, pause_ps=draw.randrange(most_us * 1_000_000 + 1)) for act in program.acts)
    return replace(program, acts=tuple(acts))

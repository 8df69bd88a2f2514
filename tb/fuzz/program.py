"""Program of a fuzz test: the choices drawn from one seed, as plain readable values."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pymodels.kernel import Kernel

Value = int | str


@dataclass(frozen=True)
class Act:
    """Operation of one node. Numbers of blocks or trees count modulo those that exist when the act runs."""

    node: int
    name: str
    values: Mapping[str, Value] = field(default_factory=dict)
    task: int = 0
    """Number of the node's task that executes the act."""
    who: str = "node"
    """Name of the unit that `node` counts: nodes or connections."""
    pause_ps: int = 0
    """Simulated time before the act."""

    def __str__(self) -> str:
        values = "".join(f" {name}={value}" for name, value in self.values.items())
        values += f" after {self.pause_ps} ps" if self.pause_ps else ""
        return f"{self.who} {self.node}{'+' * self.task}: {self.name}{values}"

    async def pause(self, kernel: Kernel) -> None:
        """Wait for the time before the act."""
        if self.pause_ps:
            await kernel.sleep(self.pause_ps, "a pause of the program")

    def whole(self, name: str) -> int:
        """Return a value as an integer."""
        return int(self.values[name])


@dataclass(frozen=True)
class Program:
    """Acts of all nodes, and the conditions under which they run."""

    nodes: int
    nic: str
    """Kind of every NIC."""
    options: Mapping[str, Value]
    """Options of the message layer; others have their defaults."""
    faults: Mapping[str, int]
    """Fault rates of the network in thousandths of the packets, and `seed`."""
    acts: tuple[Act, ...]
    """Acts in the order in which each task executes its own."""
    asked: Mapping[str, Value] = field(default_factory=dict)
    """Requests of the configuration file, in the terms of the layer."""
    chips: int = 0
    """Node chips of an SP switch board, with as many routes per pair; 0 for one switch."""
    in_c: str = ""
    """Letter for each node, `c` if its NIC executes the layer's firmware in C; empty if none does."""

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

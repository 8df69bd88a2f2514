"""Programs whose NICs run the firmware in C, and what such a NIC holds, as its SRAM tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firmware.layers import ClusterView
from firmware.nic.grim.asked import planned
from firmware.nic.grim.boot import HAS
from firmware.nic.grim.layout import Register
from firmware.nic.grim.variables import Variables
from firmware.verbs import Nic
from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program

MOST = 2
"""NICs that execute: each of their instructions takes its time."""
ACTS = (
    *("send", "send again", "send more", "burst", "flood", "send to absent", "find", "allocate", "free", "store"),
    *("misuse", "stop", "stand still", "insert", "poll", "poll channel", "use NI memory", "count"),
)
"""What nodes do that the firmware in C serves: no remote memory, no multicast."""


def with_c(draw: Draw, program: Program) -> Program:
    """The program with some NICs that execute, and with nothing that their firmware lacks."""
    first, second = (draw.whole(0, program.nodes - 1) for _ in range(MOST))
    letters = "".join("c" if node in (first, second) else "p" for node in range(program.nodes))
    options = {name: value for name, value in program.options.items() if HAS.get(name, value) == value}
    acts = tuple(act for act in program.acts if _has(act))
    return replace(program, nic=DEFAULT_KIND, options=options, faults={}, acts=acts, in_c=letters)


def _has(act: Act) -> bool:
    return act.name in ACTS and act.values.get("handler") != "write"


class ExecutingNi:
    """A NIC that executes the firmware: what the fuzz asks of it."""

    def __init__(self, nic: Nic, view: ClusterView) -> None:
        self.me = view.me
        self.peers = tuple(vnn for vnn in range(len(view.names)) if vnn != view.me)
        self.lossy = False
        self.tags = [0] * len(view.names)
        self.options, self.layout = planned(view, view.sram_bytes, executes=True)
        self._nic, self._variables = nic, Variables(nic, self.layout)

    def holds(self) -> Iterator[tuple[str, int]]:
        """What it holds, and how much of it."""
        variables = self._variables
        streams = variables.streams()
        yield "receive buffers", variables.buffers_taken()
        yield "answers in its control queue", variables["control_waiting"]
        yield "a prepared message", variables["prepared"]
        yield "reports", variables["reports"]
        for channel, count in enumerate(variables.boards()):
            yield f"scoreboard entries of channel {channel}", count
        for channel in range(self.options.channels):
            front, back = (
                self._nic.load(self.layout.register(channel, one)) for one in (Register.FRONT, Register.BACK)
            )
            yield f"a queue of channel {channel} that is not empty", int(front != back)
        yield "messages in flight", sum(stream[0] for stream in streams)
        yield "messages that wait", sum(stream[1] for stream in streams)
        yield "streams within the retry delay", sum(stream[2] for stream in streams)

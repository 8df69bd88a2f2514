"""Programs whose NICs run the firmware in C, and what such a NIC holds, as its SRAM tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from firmware.grim.nic.asked import planned
from firmware.grim.nic.boot import HAS, LACKS
from firmware.grim.nic.layout import Register
from firmware.grim.nic.variables import Variables
from firmware.images import kinds_of
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.errors import ConfigError
from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program, Value

C, PYTHON = "c", "p"
MOST = 2
"""NICs that execute where not all may: on the machine each of their instructions takes its time."""
REMOTE, TREES, TIMED, RESTARTS = "remote memory", "multicast", "timed searches", "hosts that come back"
NEEDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("write", "write more", "write physical", "read", "read more", "read and free"), REMOTE),
        **dict.fromkeys(("bad write", "bad read", "bad writes", "await lock"), REMOTE),
        **dict.fromkeys(("broadcast", "broadcast many", "subscribe", "unsubscribe", "send to tree"), TREES),
        "time search": TIMED,
        "go down": RESTARTS,
    }
)
"""What an act needs of the NICs' firmware that not every firmware may have, in the words of `LACKS` of `boot.py`."""


def with_c(draw: Draw, program: Program) -> Program:
    """The program with NICs that execute, a few, any, or all of them, and with nothing that their firmware lacks."""
    first, second, sort = draw.whole(0, program.nodes - 1), draw.whole(0, program.nodes - 1), draw.whole(0, 2)
    few = {first, second}
    chosen = (few, few | {node for node in range(program.nodes) if draw.once_in(2)}, range(program.nodes))[sort]
    letters = "".join(C if node in chosen else PYTHON for node in range(program.nodes))
    options = {name: value for name, value in program.options.items() if not _lacks(name, value)}
    faults = program.faults if "timeout_us" in options else {}
    acts = tuple(act for act in program.acts if needed(act) not in LACKS)
    nic = program.nic if program.nic in kinds_of("grim") else DEFAULT_KIND
    return replace(program, nic=nic, options=options, faults=faults, acts=acts, in_c=letters)


def needed(act: Act) -> str:
    """What an act needs of the firmware of all NICs; empty: nothing special."""
    return REMOTE if act.values.get("handler") == "write" else NEEDS.get(act.name, "")


def check(program: Program) -> None:
    """Refuse a program whose NICs execute firmware that lacks what an act or an option needs. Raises ConfigError."""
    lacking = [(str(act), needed(act)) for act in program.acts if needed(act) in LACKS]
    lacking += [(f"option {name}", f"{name}={value}") for name, value in program.options.items() if _lacks(name, value)]
    if C in program.in_c and lacking:
        what, need = lacking[0]
        cause = f"GRIM's firmware in C does not support {need}, and NICs {program.in_c} execute it"
        raise ConfigError("fuzz", 0, what, cause, "leave it out, as `with_c` does, or let all run Python")


def _lacks(name: str, value: Value) -> bool:
    return HAS.get(name, value) != value


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

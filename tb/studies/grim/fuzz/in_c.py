"""Programs whose NICs run the firmware in C, and the resources that such a NIC holds, read from its SRAM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from firmware.grim.nic.boot import FIXED_OPTIONS, UNSUPPORTED
from firmware.grim.nic.layout import Register
from firmware.grim.nic.size_requests import resolve_options
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
"""Maximum number of executing NICs unless all may execute, because each of their instructions is simulated."""
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
"""Firmware feature that each kind of act needs, in the words of `boot.UNSUPPORTED`."""


def with_c(draw: Draw, program: Program) -> Program:
    """Return the program with some or all NICs executing firmware in C, without features that it does not support."""
    first, second, sort = draw.whole(0, program.nodes - 1), draw.whole(0, program.nodes - 1), draw.whole(0, 2)
    few = {first, second}
    chosen = (few, few | {node for node in range(program.nodes) if draw.once_in(2)}, range(program.nodes))[sort]
    letters = "".join(C if node in chosen else PYTHON for node in range(program.nodes))
    options = {name: value for name, value in program.options.items() if not _lacks(name, value)}
    faults = program.faults if "timeout_us" in options else {}
    acts = tuple(act for act in program.acts if needed(act) not in UNSUPPORTED)
    nic = program.nic if program.nic in kinds_of("grim") else DEFAULT_KIND
    return replace(program, nic=nic, options=options, faults=faults, acts=acts, in_c=letters)


def needed(act: Act) -> str:
    """Return the firmware feature that an action needs, or an empty text."""
    return REMOTE if act.values.get("handler") == "write" else NEEDS.get(act.name, "")


def check(program: Program) -> None:
    """Raise ConfigError if NICs execute firmware that does not support an action or an option."""
    lacking = [(str(act), needed(act)) for act in program.acts if needed(act) in UNSUPPORTED]
    lacking += [(f"option {name}", f"{name}={value}") for name, value in program.options.items() if _lacks(name, value)]
    if C in program.in_c and lacking:
        what, need = lacking[0]
        cause = f"GRIM's firmware in C does not support {need}, and NICs {program.in_c} execute it"
        raise ConfigError("fuzz", 0, what, cause, "omit it, as `with_c` does, or let all NICs run Python")


def _lacks(name: str, value: Value) -> bool:
    return FIXED_OPTIONS.get(name, value) != value


class ExecutingNi:
    """NI that executes the firmware in C, as the fuzz test sees it."""

    def __init__(self, nic: Nic, view: ClusterView) -> None:
        self.me = view.me
        self.peers = tuple(vnn for vnn in range(len(view.names)) if vnn != view.me)
        self.lossy = False
        self.tags = [0] * len(view.names)
        self.options, self.layout = resolve_options(view, view.sram_bytes, executes=True)
        self._nic, self._variables = nic, Variables(nic, self.layout)

    def holds(self) -> Iterator[tuple[str, int]]:
        """Yield each resource and how much of it the NI holds."""
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

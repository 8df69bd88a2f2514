"""C extension against the Python reference implementation: equal names, and equal ways of passing arguments.

Strategy: an object of each C type is compared with one of its Python class. Names that both show are compared, except
for those in a list with a reason. The arguments of a C method are found by calling it. It must reject fewer and more
arguments than it accepts with a message. For unknown names it must name the expected arguments. Python's side is read
from its signature.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from firmware.verbs import Watch
from pymodels.costs.table import PathTable
from pymodels.hardware.discover import nic_kind
from pymodels.hardware.processors import HostProcessor, NicProcessor
from pymodels.kernel import Kernel
from pymodels.trace import Part, unit
from tb.bind.actor import PathNumbers
from tb.bind.host import HostTiming, RtlHost
from tb.bind.lanai import RtlNic
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway

IN_PYTHON_ONLY: Mapping[str, Mapping[str, str]] = {
    "Future": {"tasks": "who waits, which loops that choose turns read; they are of Python"},
    "Task": {"resume": "how the loop runs it, which loops that choose turns call; they are of Python"},
    "Commands": {"event": "its handler of events, which C calls without a name"},
}
"""Names of each type that the C extension does not have, and why."""
MOST = 8
"""More arguments than any function accepts."""
UNIT = 5
TIMING = HostTiming(1000.0, 500, 300, {}, (1, 1), 70, HostProcessor(1.0, 1.0, 1.0, 0.0), 0.0)


class Takes(NamedTuple):
    """Arguments that a function accepts."""

    least: int
    most: int | None
    """Maximum number of arguments; None: any number."""
    names: tuple[str, ...]
    """Arguments that may be given by name."""


def objects(doorway: Doorway) -> dict[str, Any]:
    """Return an object of each type at the doorway, by the name of its type in C."""
    doorway.trace_create(1 << 10)
    doorway.trace_on(True)
    kernel = doorway.backend(Kernel)()
    exchange = doorway.exchange
    sram, memory = memoryview(bytearray(256)), doorway.memory(0, 1 << 22, unit(0, Part.HOST_CPU))
    nic = doorway.backend(RtlNic)(0, kernel, doorway, sram, NicProcessor(1, 1, 1, 0), PathNumbers())
    nic.use(PathTable.load("nic", "echo"))
    card = nic_kind("lanai9").card(1 << 21)
    host = doorway.backend(RtlHost)(0, "h", kernel, doorway, memory, 0, card, TIMING, PathNumbers(), 1)
    done = kernel.future()
    done.set(None)
    cost = exchange.cost()
    return {
        "Kernel": kernel,
        "Future": kernel.future("something"),
        "Task": kernel.spawn(kernel.sleep(1).__await__(), "sleeper"),  # type: ignore[arg-type]
        "Commands": doorway.commands(UNIT, kernel, (32,), lambda time, code, a, b: None, 0),
        "Turns": exchange.turns(kernel, done, cost, 1 << 40, lambda now: None, lambda: None, None),
        "Cost": cost,
        "Recorder": exchange.recorder(UNIT, kernel),
        "Exchange": exchange,
        "Nic": nic,
        "PollLoop": nic.poll_loop([Watch(0, 0, "send")]),
        "Host": host,
        "Cpu": host.cpu,
        "WatchedWords": host._words,
    }


@pytest.fixture(name="make")
def fixture_make(library: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Any, Any]]:
    """Return a function that creates the C object and the Python object of a type name."""
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))

    def both(name: str) -> tuple[Any, Any]:
        monkeypatch.setenv(COMPILED, "1")
        compiled = objects(Doorway())[name]
        monkeypatch.setenv(COMPILED, "0")
        return compiled, objects(Doorway())[name]

    return both


BELOW_PYTHON = ("Kernel", "Nic", "PollLoop", "Host", "Cpu", "WatchedWords")
"""Types with some methods in C and the others in Python."""
TYPES = ("Future", "Task", "Commands", "Turns", "Cost", "Recorder", *BELOW_PYTHON)


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if name[0] != "_"}


@pytest.mark.parametrize("name", [*TYPES, "Exchange"])
def test_one_setting_selects_c_or_python_and_the_type_of_each_object_shows_it(
    name: str, make: Callable[[str], tuple[Any, Any]]
) -> None:
    compiled, python = make(name)
    in_c = {kind.__module__ for kind in type(compiled).__mro__} & {"doorway_python", "tb.sim.compiled"}
    assert in_c and type(compiled).__name__ in (f"{name}C", f"Rtl{name}C")
    assert not {kind.__module__ for kind in type(python).__mro__} & {"doorway_python", "tb.sim.compiled"}
    if name in BELOW_PYTHON:
        assert type(compiled).__name__ == f"{type(python).__name__}C" and isinstance(compiled, type(python))
        assert type(compiled).__module__ == type(python).__module__


@pytest.mark.parametrize("name", [name for name in TYPES if name != "Recorder"])
def test_c_and_python_have_the_same_names(name: str, make: Callable[[str], tuple[Any, Any]]) -> None:
    compiled, python = make(name)
    assert type(compiled) is not type(python)
    assert public(compiled) == public(python) - IN_PYTHON_ONLY.get(name, {}).keys()
    assert IN_PYTHON_ONLY.get(name, {}).keys() <= public(python)


def in_python(function: Callable[..., Any]) -> Takes:
    """Return the positional arguments of a Python function, from its signature."""
    every = inspect.signature(function).parameters.values()
    parameters = [one for one in every if one.kind is not one.KEYWORD_ONLY]
    places = [one for one in parameters if one.kind is not one.VAR_POSITIONAL]
    least = sum(one.default is one.empty for one in places)
    named = tuple(one.name for one in places if one.kind is one.POSITIONAL_OR_KEYWORD)
    return Takes(least, len(places) if len(places) == len(parameters) else None, named)


def refusal(call: Callable[..., Any], *given: Any, **named: Any) -> str:
    """Return the error for the number or names of the arguments, or an empty string if they are accepted."""
    try:
        made = call(*given, **named)
    except TypeError as error:
        return str(error) if re.search("takes|lacks", str(error)) else ""
    except Exception:  # noqa: BLE001 - the call has read its arguments
        return ""
    if inspect.iscoroutine(made):
        made.close()
    return ""


def in_c(fresh: Callable[[], Callable[..., Any]]) -> Takes:
    """Return the arguments of a C function; `fresh` returns the function of a new object each time."""
    taken = [count for count in range(MOST) if not refusal(fresh(), *[object()] * count)]
    assert taken == list(range(taken[0], taken[-1] + 1))
    names: list[str] = []
    while lacks := re.search(r"lacks the argument '(\w+)'", refusal(fresh(), **named(names, taken[-1]))):
        names.append(lacks[1])
    return Takes(taken[0], taken[-1], tuple(names))


def named(names: list[str], count: int) -> dict[str, Any]:
    """Return `count` arguments by name: the given names, then unknown ones; earlier ones are passed by position."""
    return dict.fromkeys([*names, *(f"nothing_{i}" for i in range(count - len(names)))], object())


@pytest.mark.parametrize("name", TYPES)
def test_methods_of_c_accept_the_arguments_of_those_of_python(
    name: str, make: Callable[[str], tuple[Any, Any]]
) -> None:
    kind = getattr(make("Exchange")[0]._compiled, f"{name}Methods" if name in BELOW_PYTHON else f"{name}C")
    methods = [method for method, value in vars(kind).items() if method[0] != "_" and callable(value)]
    for method in [*methods, *(["__call__"] if "__call__" in vars(kind) else [])]:
        twin = make(name)[1]
        python = in_python(twin if inspect.isfunction(twin) else getattr(twin, method))
        compiled = in_c(lambda method=method: getattr(make(name)[0], method))  # type: ignore[misc]
        if python.most is None:  # it passes them to a function with this many parameters
            compiled = compiled._replace(most=None)
        assert (method, compiled) == (method, python)


def test_constructors_without_arguments_accept_the_same(make: Callable[[str], tuple[Any, Any]]) -> None:
    compiled, python = make("Exchange")
    assert in_c(lambda: compiled.record) == in_python(python.record)


def test_an_address_beyond_memory_is_reported_in_numbers(make: Callable[[str], tuple[Any, Any]]) -> None:
    compiled, _ = make("Nic")
    with pytest.raises(IndexError, match="8 bytes at 0xfc, in a memory of 256 bytes"):
        compiled.load_words(252, 2)

"""Choice between the C extension and Python, and how the type of an object shows it.

Strategy: a module of Python classes has the part of the C extension, so that no compiler is needed. The real extension
is compared name by name in tests/tools/test_c_extension_signatures.py, its results in tests/system/test_equality.py.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel
from tb.bind.cpu import Cpu
from tb.bind.host import RtlHost
from tb.bind.lanai import RtlNic, RtlPollLoop
from tb.bind.watch import WatchedWords
from tb.run import debugger
from tb.run.simulate import simulate
from tb.sim.compiled import COMPILED, ExchangeC, exchange_with
from tb.sim.exchange import Exchange
from tb.tools.paths import ROOT

REPLACED = (Kernel, Cpu, RtlHost, RtlNic, RtlPollLoop, WatchedWords)
"""Classes with a subclass in C."""


class InC:
    """Type of the extension with two methods."""

    def spend(self, path: str) -> str:
        return f"{path} in C"

    def spawn(self) -> str:
        return "spawned in C"


def words(name: str, count: int, code: str) -> Any:
    return memoryview(mmap.mmap(-1, 8 * count)).cast(code)  # type: ignore[call-overload]


def exchange_in_c() -> ExchangeC:
    types = {cls.compiled: InC for cls in REPLACED}
    return ExchangeC(words, SimpleNamespace(record=None, **types))


@pytest.mark.parametrize("cls", REPLACED)
def test_class_in_c_is_a_subclass_named_with_a_c(cls: type) -> None:
    made: type = exchange_in_c().backend(cls)
    assert made.__mro__[:2] == (made, cls)
    assert (made.__module__, made.__qualname__) == (cls.__module__, f"{cls.__name__}C")
    assert exchange_with(Path("nowhere/libdoorway.so"), words).backend(cls) is cls


def test_help_of_a_class_in_c_lists_its_methods_in_c_and_the_setting() -> None:
    made = exchange_in_c().backend(RtlHost)
    assert made.__doc__ == "`RtlHost` with methods in C: spawn, spend.\n\nSANLAB_COMPILED=0 selects `RtlHost`."


def test_method_that_a_class_below_replaces_stays_in_python() -> None:
    class Below(RtlHost):
        def spend(self, path: str, times: int = 1) -> Any:
            return f"{path} in Python"

    made: Any = exchange_in_c().backend(Below)
    assert made.spend is Below.spend
    assert made.spawn is InC.spawn
    assert "methods in C: spawn." in made.__doc__


def test_setting_0_selects_python_where_the_extension_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doorway_python.so").write_bytes(b"not loaded")
    monkeypatch.setenv(COMPILED, "0")
    assert type(exchange_with(tmp_path / "libdoorway.so", words)) is Exchange


@pytest.mark.parametrize("value", ["no", "2", "false", "00"])
def test_invalid_value_of_the_setting_is_an_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMPILED, value)
    with pytest.raises(SanlabError) as error:
        exchange_with(Path("libdoorway.so"), words)
    assert str(error.value) == f"SANLAB_COMPILED={value}: invalid value; set 1 for the C extension or 0 for Python"


def test_setting_is_in_the_help_of_make() -> None:
    assert "\n## SANLAB_COMPILED=0 " in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_breakpoint_stops_at_the_callers_line_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    monkeypatch.setattr(debugger, "TERMINAL", Path(os.ttyname(theirs)))
    monkeypatch.setenv(debugger.HOOK, debugger.STOP)
    os.write(ours, b"p number + 1\ncontinue\n")
    number = 41
    breakpoint()  # noqa: T100
    assert number == 41
    os.set_blocking(ours, False)
    shown = b""
    with suppress(BlockingIOError):
        while part := os.read(ours, 1 << 16):
            shown += part
    assert b"test_breakpoint_stops_at_the_callers_line_on_the_terminal" in shown and b"42" in shown
    os.close(theirs)
    os.close(ours)


@pytest.mark.parametrize(("given", "hook"), [(None, debugger.STOP), ("web_pdb.set_trace", "web_pdb.set_trace")])
def test_simulations_get_the_debugger_that_the_user_names(
    given: str | None, hook: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(debugger.HOOK, raising=False)
    if given:
        monkeypatch.setenv(debugger.HOOK, given)
    program = tmp_path / "obj" / "Vtop"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "hook ${debugger.HOOK}"\n', encoding="utf-8")
    program.chmod(0o755)
    build: Any = SimpleNamespace(folder=tmp_path, simulator="verilator", top="top")
    outcome = simulate(build, "tests.none", tmp_path / "run", 1)
    assert f"hook {hook}\n" in outcome.log.read_text(encoding="utf-8")

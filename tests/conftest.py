"""Reproducible test runs: one result on any machine, under any load, in any order.

Property tests draw the same examples every time; HYPOTHESIS=explore draws new ones. An example has no deadline, and no
health check reports slow drawing. Some examples are constants of the sources: hypothesis takes them from all modules
that have been imported, which depends on the tests before; here it takes none. Programs write to a terminal of 80
columns without colours, whatever the variables of the caller say. Variables of cocotb are removed: a filter, say, would
leave out tests of the block benches. With PYTHONDONTWRITEBYTECODE, a thousand simulators would compile the same
modules; bytecode is then kept in `sim_build/bytecode`, beside no source.

`durations.json` has the processor seconds of tests that take long. They begin first, so that workers end together, and
`--quick` leaves them out.

With CI=true a skipped test fails: a server that lacks a program would otherwise leave its tests out in silence.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERM"):
    os.environ.pop(variable, None)
for variable in [
    name for name in os.environ if name.startswith(("COCOTB_", "GPI_", "PYGPI_")) or name == "RANDOM_SEED"
]:
    del os.environ[variable]
if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and not sys.pycache_prefix:
    generated = Path(os.environ.get("SANLAB_OUT") or Path(__file__).parents[1] / "sim_build").absolute()
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(generated / "bytecode")
    sys.dont_write_bytecode = False
providers._get_local_constants = lambda: providers._local_constants
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("fixed"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS", "fixed"))

KEPT_OUT = ("the kernel gives no namespaces", "exceptions carry notes from Python 3.11 on")
"""Reasons of skips that no set-up can remove."""
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


PROCESSOR_S = "processor_s"
"""The name of a test's processor seconds in pytest's results."""
BEFORE = pytest.StashKey[float]()


def processor_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Note the processor seconds before a test and its fixtures."""
    item.stash[BEFORE] = processor_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Record the processor seconds of a test (`--junitxml`); fail a skipped test in CI."""
    if call.when == "teardown" and BEFORE in item.stash:
        item.user_properties.append((PROCESSOR_S, f"{processor_s() - item.stash[BEFORE]:.3f}"))
    report: pytest.TestReport = yield
    return report if hasattr(report, "wasxfail") else _failed_in_ci(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, pytest.CollectReport]:
    """Fail a module in CI that skips all its tests."""
    report: pytest.CollectReport = yield
    return _failed_in_ci(report)


def _failed_in_ci(report: Report) -> Report:
    """Return a report that says why a test was skipped, as a failure if this is CI."""
    if os.environ.get("CI") == "true" and report.skipped and isinstance(report.longrepr, tuple):
        path, line, reason = report.longrepr
        reason = reason.removeprefix("Skipped: ")
        if not reason.startswith(KEPT_OUT):
            report.outcome = "failed"
            report.longrepr = f"{path}:{line}: skipped, which is an error in CI: {reason}"
    return report


DURATIONS = Path(__file__).with_name("durations.json")
"""Processor seconds of each test function that takes more than SLOW_S, all its cases together."""
SLOW_S = 0.3
OTHERS_S = {"cluster": 3.0, "system": 4.0, "block": 4.0, "tools": 0.5, "unit": 0.02}
"""Seconds of a test that is not in that file, by folder."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help=f"leave out tests of more than {SLOW_S:g} s (durations.json)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out with `--quick`; let the longest modules begin first on several workers."""
    known: dict[str, float] = json.loads(DURATIONS.read_text(encoding="utf-8"))
    if config.getoption("--quick"):
        slow = [item for item in items if function_of(item) in known]
        items[:] = [item for item in items if function_of(item) not in known]
        config.hook.pytest_deselected(items=slow)
    if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = dealt(items, known, workers)


def function_of(item: pytest.Item) -> str:
    """Return the name of a test without the case."""
    return item.nodeid.partition("[")[0]


def dealt(items: list[pytest.Item], known: dict[str, float], workers: int) -> list[pytest.Item]:
    """Return tests in an order whose equal parts each begin with long modules: every worker gets a part at first.

    A module stays together, for the sake of its fixtures.
    """
    modules, seconds = defaultdict[str, list[pytest.Item]](list), defaultdict[str, float](float)
    counted: set[str] = set()
    for item in items:
        module, function = item.nodeid.partition("::")[0], function_of(item)
        modules[module].append(item)
        if function not in known:
            seconds[module] += next((s for folder, s in OTHERS_S.items() if f"/{folder}/" in f"/{module}"), 0.0)
        elif function not in counted:
            counted.add(function)
            seconds[module] += known[function]
    order = sorted(modules, key=lambda module: -seconds[module])
    return [item for first in range(workers) for module in order[first::workers] for item in modules[module]]

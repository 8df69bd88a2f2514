"""A run of the tests has one result, on any machine, under any load, in any order.

Property tests draw the same examples every time; HYPOTHESIS=explore draws new ones. An example has no deadline, and
nobody complains that examples are slow to draw. Some examples are constants of the sources: hypothesis takes them from
all modules that have been imported, which depends on the tests before; here it takes none. Programs write to a terminal
of 80 columns without colours, whatever the variables of the caller say. Variables of cocotb are removed: a filter, say,
would leave out tests of the block benches.

With CI=true a skipped test fails: a server that lacks a program would otherwise leave its tests out in silence.
"""

from __future__ import annotations

import os
from collections.abc import Generator
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
providers._get_local_constants = lambda: providers._local_constants
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("fixed"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS", "fixed"))

KEPT_OUT = ("the kernel gives no namespaces", "exceptions carry notes from Python 3.11 on")
"""Reasons of skips that no set-up can remove."""
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, pytest.TestReport]:
    """Fail a skipped test in CI."""
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

"""cocotb tests of a running cluster: `sanlab.cocotb.start`, `trigger`, and the cases for pytest.

The module needs only pytest and cocotb where it is imported; the laboratory runs in child processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .child import call

if TYPE_CHECKING:
    from tb.cocotb_test.cluster import Cluster

SIMULATORS = ("verilator", "icarus")
RUNNING = "SANLAB_TEST"
"""Environment variable that the simulator of a cluster test has."""


async def start(
    dut: Any,
    layer: str = "",
    profile: str = "",
    cluster: str = "",
    settings: Mapping[str, Any] | None = None,
    study: str = "",
    **options: Any,
) -> Cluster:
    """Start the cluster of a cocotb test: clocks, reset, boot of the cards, and a message layer on all nodes.

    Args:
        dut: Handle that cocotb passes to the test.
        layer: Message layer; empty for none.
        profile: Hardware profile; by default PROFILE of the test file, else the laboratory's default.
        cluster: Cluster file or name of an example; by default CLUSTER of the test file, else the default.
        settings: Settings by key, as in SET, for keys with a dot.
        study: Study that `Cluster.run` then runs; it starts its layers itself.
        **options: Further settings by key.

    Returns:
        The running cluster.

    Raises:
        SanlabError: No cluster test is running, or an invalid name or setting.
    """
    from tb.cocotb_test.cluster import start as start_cluster

    return await start_cluster(dut, layer, profile, cluster, settings, study, **options)


async def trigger(awaited: Any) -> Any:
    """Wait for a cocotb trigger in firmware or host code.

    Args:
        awaited: Trigger or awaitable of cocotb.

    Returns:
        What cocotb returns for it.

    Raises:
        SanlabError: No cluster of a cocotb test is running.
    """
    from tb.cocotb_test.crossing import trigger as wait

    return await wait(awaited)


def pytest_cases(module: Mapping[str, Any], *simulators: str) -> Callable[..., None]:
    """Return a pytest function with a case for each cocotb test of a module on each simulator.

    Write `test_cluster = sanlab.cocotb.pytest_cases(globals())` below the tests. The environment variable SIM
    selects one simulator, WAVES=1 writes waves, and SEED sets the seed.

    Args:
        module: The module's `globals()`.
        *simulators: Names of the simulators; none for all.
    """
    names = [] if RUNNING in os.environ else _names(module)
    import pytest

    wanted = [one for one in simulators or SIMULATORS if os.environ.get("SIM", one) == one]

    @pytest.mark.parametrize("test", names)
    @pytest.mark.parametrize("simulator", wanted)
    def cases(simulator: str, test: str) -> None:
        words = ["--sim", simulator, "--seed", os.environ.get("SEED", "1")]
        words += ["--waves"] if os.environ.get("WAVES") == "1" else []
        ended = call(["test-cluster", *words, str(module["__file__"]), test])
        if ended.code:
            pytest.fail("\n".join(filter(None, [ended.out.strip(), ended.err.strip()])), pytrace=False)

    return cases


def _names(module: Mapping[str, Any]) -> list[str]:
    """Return the names of all cocotb tests of a module, also of parametrized ones."""
    from cocotb import _decorators  # cocotb has no public name for the type of a test

    found: list[str] = []
    for value in module.values():
        if isinstance(value, _decorators.Test):
            found.append(value.name)
        elif isinstance(value, _decorators.TestGenerator):
            found += [test.name for test in value.generate_tests()]
    return found

"""Processes of TreadMarks for studies, started on each substrate in turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from pymodels.errors import ConfigError
from pymodels.numerals import is_whole
from tb.lab.lab import Lab
from tb.plan.request import Plan
from tb.studies.kit.hosts import start_together

T = TypeVar("T")
LAYER = "tmk"
REST_PS = 2_000_000_000
"""Time from the end of a program until the network is idle, ps."""
SUBSTRATES: Mapping[str, str] = MappingProxyType({"udp": "udp", "bvia": "via"})
"""Layer of each substrate, by its name in metrics."""


def check_hosts(plan: Plan, what: str, processes: int) -> None:
    """Reject more processes than hosts; `what` names the setting. Raises ConfigError."""
    hosts = len(plan.cluster.hosts)
    if processes > hosts:
        cause = f"there are {hosts} hosts, and each process has one"
        raise ConfigError(
            "SET", 0, f"{what}: {processes} processes", cause, "take a larger cluster, or fewer processes"
        )


def check(plan: Plan) -> None:
    """Check a study whose number of processes is the layer's option."""
    check_hosts(plan, "tmk.processes", int(plan.options["tmk.processes"]))


def check_counts(plan: Plan) -> None:
    """Check a study whose option `counts` is a comma-separated list of numbers of processes."""
    for count in str(plan.options["counts"]).split(","):
        if not is_whole(count) or not int(count):
            raise ConfigError("SET", 0, f"counts: {count!r}", "it is no number of processes", "such as counts=1,2,8")
        check_hosts(plan, "counts", int(count))


async def bring_up(lab: Lab, **options: float | str) -> list[Any]:
    """Return started processes on all hosts that take part; `options` are further options of TreadMarks."""
    layers = lab.start_layer(LAYER, options)
    await start_together(lab, layers)
    processes = [layer.open() for layer in layers if layer.takes_part]
    await lab.all([lab.spawn(tmk.startup(), "startup") for tmk in processes])
    return processes


async def anew(lab: Lab, substrate: str, **options: float | str) -> list[Any]:
    """Return started processes over a substrate, after an earlier run. VIA is Berkeley's unless `via.preset` is set."""
    if lab.running.layers:
        await lab.kernel.sleep(REST_PS, "the end of what ran before")
        await lab.change_layers()
    below = SUBSTRATES[substrate]
    if below == "via":
        lab.start_layer("via", {"preset": "bvia2"})
    return await bring_up(lab, on=below, **options)


async def together(lab: Lab, processes: list[Any], program: Callable[[Any], Awaitable[T]]) -> list[T]:
    """Run a program in every process and return the results."""

    async def one(tmk: Any) -> T:
        return await program(tmk)

    return await lab.all([lab.spawn(one(tmk), tmk.process.who) for tmk in processes])

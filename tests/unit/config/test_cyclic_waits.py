"""Channel dependencies of NICs that accept no packet while they wait for their own link.

Strategy: the cycle of two hosts on one switch is computed by hand and compared exactly. The options of a layer are
checked through the plan of a run: a study of deadlocks may use them, any other is rejected before a build.
"""

from __future__ import annotations

import pytest

from pymodels.builders import single_switch
from pymodels.routes import DependencyGraph, RouteError, check_routes
from pymodels.topology import Channel, End
from pymodels.updown import up_down
from tb.plan import studies
from tb.plan.request import Plan, plan, resolve
from tb.tools.paths import SIMULATORS

TOPOLOGY = single_switch(("a", "b"))


def planned(study: str, settings: str) -> Plan:
    """Return the plan of a run on the example cluster."""
    info = studies.load(study)
    return plan(resolve(study, "verilator", "1", False, "two_hosts", "", settings, SIMULATORS), info)


def test_a_nic_that_accepts_every_packet_adds_no_dependencies() -> None:
    graph = DependencyGraph(TOPOLOGY, up_down(TOPOLOGY))
    assert all(wanted.target.node in ("a", "b") for then in graph.next.values() for wanted in then)
    assert graph.cycle == ()


def test_a_nic_that_waits_for_its_link_holds_its_incoming_channel() -> None:
    graph = DependencyGraph(TOPOLOGY, up_down(TOPOLOGY), nics_hold=True)
    into, out = Channel(End("s0", 1), End("b", 0)), Channel(End("b", 0), End("s0", 1))
    assert graph.next[into] == {out: ("b", "a")}
    assert len(graph.cycle) == 4


def test_the_cycle_of_two_nics_is_listed_channel_by_channel() -> None:
    with pytest.raises(RouteError) as error:
        check_routes(TOPOLOGY, up_down(TOPOLOGY), held_by="grim.control_queue=0")
    assert str(error.value) == (
        "cyclic waits: with grim.control_queue=0 a NIC takes no packet while it waits for its link; packets can wait "
        "for each other in a circle: a.0->s0.0 (then a to b), s0.1->b.0 (then b to a), b.0->s0.1 (then b to a), "
        "s0.0->a.0 (then a to b); leave that out, or take a study of deadlocks (grim_deadlock)"
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("grim.control_queue=0", "grim.control_queue=0"),
        ("grim.queue_style=hybrid grim.hybrid_wait=1", "grim.queue_style=hybrid grim.hybrid_wait=1"),
    ],
)
def test_options_that_hold_channels_are_rejected_except_in_studies_of_deadlock(settings: str, told: str) -> None:
    with pytest.raises(RouteError, match=f"cyclic waits: with {told} a NIC takes no packet .* paris to metz"):
        planned("grim_streaming", settings)
    planned("grim_deadlock", settings)


@pytest.mark.parametrize("settings", ["", "grim.queue_style=hybrid", "grim.hybrid_wait=1", "grim.buffering=both"])
def test_options_with_which_nics_accept_every_packet_are_valid(settings: str) -> None:
    planned("grim_streaming", settings)

"""Comparison of compositions when hosts of EPOS start.

Strategy: hosts of one composition start, and messages arrive as usual, on both cards and with each place of the Rx FIFO
Queue. Where the composition of one host differs, it and all others are rejected, each by name and composition. A host
that does not start is named by the report of the hang.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from firmware.epos.host import EposError
from firmware.epos.nic.words import Word
from firmware.view import ClusterView
from pymodels.machine import Machine, MachineError
from tests.unit.epos.epos_bench import Bench

CHOICES: list[dict[str, Any]] = [
    *({"protocols": one} for one in ("", "reliability", "reliability+flow", "multicast+active", "rendezvous", "mtu")),
    {"nic": "lanai4"},
    {"rx_fifo": "host"},
    {"protocols": "flow", "send_frames": 2, "receive_frames": 2},
]


class Mixed(Bench):
    """Hosts of several compositions."""

    def __init__(self, compositions: Sequence[str]) -> None:
        self.machine, self.hosts = Machine(len(compositions)), []
        for node, (host, protocols) in enumerate(zip(self.machine.hosts, compositions, strict=True)):
            view = ClusterView(**self.machine.view(node, protocols=protocols))
            self.machine.nic(node).spawn(self.program(self.machine.nic(node), view), "epos")
            self.hosts.append(self.library(host, view))
        self.run(*(host.start() for host in self.hosts))


@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_hosts_of_one_composition_meet_and_continue(options: dict[str, Any]) -> None:
    bench = Bench(3, **options)
    bench.run(*(host.meet() for host in bench.hosts))
    sent = [bytes([number]) * 100 for number in range(10)]
    _, got = bench.run(bench.give(0, 2, sent), bench.take(2, len(sent)))
    assert [message.data for message in got] == sent
    assert all(bench.word(node, Word.FOREIGN) == 0 for node in range(3))


async def refusal(host: Any) -> str:
    """Return the text of the error that a host's call raises."""
    try:
        await host.meet()
    except EposError as error:
        return str(error)
    return ""


def test_different_compositions_of_two_hosts_are_rejected_with_both_names() -> None:
    bench = Mixed(["reliability", "flow+reliability"])
    one, other = bench.run(*(refusal(host) for host in bench.hosts))
    first, second = bench.hosts[0].view.names
    assert first in one and "composed of reliability" in one and f"{second} of flow+reliability" in one
    assert second in other and f"{first} of reliability" in other and "epos.protocols" in other


def test_each_host_names_the_one_with_another_composition() -> None:
    bench = Mixed(["", "", "active", ""])
    told = bench.run(*(refusal(host) for host in bench.hosts))
    names = bench.hosts[0].view.names
    for node in (0, 1, 3):
        assert f"{names[2]} of active" in told[node] and told[node].count(" of the baseline alone") == 1
    assert all(f"{names[node]} of the baseline alone" in told[2] for node in (0, 1, 3))


def test_host_that_does_not_meet_is_named_by_the_hang() -> None:
    bench = Bench(3)
    with pytest.raises(MachineError, match=f"the greeting of {bench.hosts[0].view.names[2]}"):
        bench.run(bench.hosts[0].meet(), bench.hosts[1].meet(), within_us=1000)


def test_greetings_are_rejected_with_protection() -> None:
    bench = Bench(protocols="protection")
    with pytest.raises(EposError, match="protection does not support greetings"):
        bench.run(bench.hosts[0].meet())

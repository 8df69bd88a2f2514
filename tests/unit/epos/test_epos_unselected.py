"""Protocols that are not composed into EPOS add nothing: no byte, no word of memory, no polling step, no call.

Strategy: header, memory map, polling steps and hooks of each compiled set of protocols are read. They must equal those
of the baseline plus those that the protocols declare. The bytes of a message are compared with those on the cable,
where an extra header word must be detected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from firmware.epos.host.composer import written
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import NAMES, POINTCUTS, PROTOCOLS, hooks, identity
from firmware.epos.nic.program import Program
from firmware.epos.options import Options
from firmware.view import ClusterView
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos_protocols import SETS


@pytest.mark.parametrize("protocols", SETS)
def test_header_and_memory_contain_only_baseline_and_selected_protocols(protocols: str) -> None:
    bare, place = (Place(Options.from_values({"protocols": text}).on(True), 8) for text in ("", protocols))
    chosen = [one for one in PROTOCOLS if one.name in protocols]
    assert place.header_bytes == bare.header_bytes + 4 * sum(one.header for one in chosen)
    added = {name: size for name, (_, size) in place.parts.items() if name not in bare.parts}
    expected = {f"words of {one.name}": 4 * (one.peer + 16 * one.pages) * 8 for one in chosen if one.peer}
    expected |= {"control frame": 32} if expected else {}
    if "protection" in protocols:
        expected |= {"owners": 16, "chain of the Tx DMA": 24 * 9, "header that leaves": 16 + place.header_bytes}
    assert added == expected
    longer = {"Send Ring", "Receive Ring", *(("Rx FIFO Queue",) if "mtu" in protocols else ())}
    assert all(place.parts[name][1] == size for name, (_, size) in bare.parts.items() if name not in longer)
    assert place.identity == identity(one.name for one in chosen)


def on_the_cable(bench: Bench) -> tuple[list[int], list[int]]:
    """Return the bytes of a packet with a message of 60 bytes and its CRC character, as measured and as expected."""
    bench.run(bench.give(0, 1, [bytes(60)]), bench.take(1, 1))
    sent = [row[4] for row in bench.machine.trace.records if (row[2], row[1] // 16) == (TraceEvent.RX_TAIL, 1)]
    words = 3 + sum(one.header for one in PROTOCOLS if one.name in bench.hosts[0].protocols)
    return sent, [4 * words + 60 + (-(4 * words + 60) % 8) + 1]


@pytest.mark.parametrize("protocols", SETS)
def test_bytes_on_the_cable_contain_only_baseline_and_selected_protocols(protocols: str) -> None:
    sent, expected = on_the_cable(Bench(protocols=protocols))
    assert sent == expected


@pytest.mark.parametrize("name", [one.name for one in PROTOCOLS if one.header and one.name != "protection"])
def test_extra_header_word_is_detected_on_the_cable(name: str) -> None:
    """Add the word of a protocol that is not selected, on both hosts."""
    original = Place.__init__

    def longer(place: Place, options: Options, nodes: int, process: int = 0) -> None:
        original(place, replace(options, protocols=name), nodes)
        place.identity, place.options = 0, options

    async def nothing(nodes: tuple[int, ...], at: int) -> int:
        return 0

    with patch.object(Place, "__init__", longer):
        bench = Bench()
        for host in bench.hosts:
            host.outgoing.hooks["frame"] = (nothing,)
        sent, expected = on_the_cable(bench)
    assert sent != expected


@pytest.mark.parametrize("protocols", SETS)
def test_only_selected_protocols_are_called_and_none_adds_a_polling_step(protocols: str) -> None:
    bench = Bench(protocols=protocols)
    host = bench.hosts[0]
    assert set(host.protocols) == {name for name in NAMES if name in protocols}
    for side in ("host", "nic"):
        for calls in hooks(side, host.protocols if side == "host" else {}).values():
            mine = [call for call in calls if "active" not in protocols or hasattr(call, "__self__")]
            assert all(call.__self__ in host.protocols.values() for call in mine)  # type: ignore[attr-defined]
    nic = bench.machine.nic(0)
    steps: list[int] = []
    original = nic.poll_loop

    def counted(watches: Any) -> Any:
        steps.append(len(watches))
        return original(watches)

    nic.poll_loop = counted  # type: ignore[assignment, method-assign]
    view = bench.hosts[0].view
    program = Program(nic, ClusterView(**vars(view)), Options.from_values(view.options).on(True))
    nic.spawn(program.run(), "another")
    bench.machine.kernel.run_ready()
    assert steps == [2], "ISR, and what a held frame waits for"


def test_point_cut_without_protocols_is_empty() -> None:
    for side in ("host", "nic"):
        found = hooks(side, {})
        assert found == {cut.name: () for cut in POINTCUTS if cut.side == side}


def test_generated_headers_are_up_to_date() -> None:
    """`python -m firmware.epos.host.composer` generates them."""
    assert [path.name for path, text in written().items() if path.read_text(encoding="utf-8") != text] == []

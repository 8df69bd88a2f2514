"""Active Messages pass through the NIC's memory: a bit flipped there reaches the handler.

Strategy: AM and AM-II on LANais. A bit of the payload is flipped in the sending NIC's memory, between the DMA that
stores it and the link that reads it. Or it is flipped in the memory of the receiving NIC, before the DMA that reads it.
SSAM: a bit is flipped in a cell that waits in the card. The link's CRC is computed from the sent data, so it does not
detect the flip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pymodels.nics.fifo.machine import FifoNic
from tests.unit.am import am_bench
from tests.unit.am2 import am2_bench
from tests.unit.layers import request_bench

SENT, SEEN = b"a payload that nobody else has", b"A payload that nobody else has"


def flipping(nic: Any) -> Callable[[], None]:
    """Return a function that flips a bit of the payload in a NIC's memory, where the payload must be exactly once."""
    done: list[int] = []

    def flip() -> None:
        found = bytes(nic.sram.data).find(SENT)
        if found >= 0 and not done:
            done.append(found)
            nic.sram.data[found] ^= ord("a") ^ ord("A")

    return flip


def before(owner: Any, name: str, act: Callable[[], None]) -> None:
    """Run a function before each call of a method."""
    method = getattr(owner, name)

    def called(*values: Any) -> Any:
        act()
        return method(*values)

    setattr(owner, name, called)


def between(machine: Any, side: str) -> None:
    """Flip a bit at one side."""
    nic = machine.nic(0 if side == "sender" else 1)
    if side == "sender":
        before(nic.send, "_sent", flipping(nic))
    else:
        before(nic.receive, "_raise_isr", flipping(nic))


@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
def test_am_delivers_the_contents_of_the_nics_memory(nic: str, side: str) -> None:
    bench = am_bench.Bench(nic=nic)
    between(bench.machine, side)
    bench.run(bench.ports[0].request(1, bench.keep, data=SENT), bench.until(1, 1))
    assert bench.came[1] == [(0, 0, (), SEEN)]


@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
def test_am2_delivers_the_contents_of_the_nics_memory(nic: str, side: str) -> None:
    bench = am2_bench.Bench(nic=nic)
    between(bench.machine, side)
    bench.run(bench.send(0, 1, data=SENT, handler=am2_bench.KEEP), bench.until(1, 1))
    assert bench.came[1] == [(False, 0, (), SEEN)]


@pytest.mark.parametrize("node", [0, 1])
def test_ssam_delivers_the_contents_of_a_cell_in_the_card(node: int) -> None:
    bench = request_bench.Bench("ssam")
    card = bench.machine.nics[node]
    assert isinstance(card, FifoNic)
    cells = card.receive.cells if node else card.card._send.cells

    def flip() -> None:
        for place, cell in enumerate(cells):
            cells[place] = replace(cell, payload=cell.payload.replace(SENT[:8], SEEN[:8]))

    before(card.receive if node else card.card._send, "changed" if node else "_go_on", flip)
    bench.run(bench.ports[0].request(1, bench.keep(0), data=SENT), bench.until(1, 1))
    assert bench.came[1][0][3] == SEEN

"""Is the result of one message to a circuit returned, or its failure reported?

Strategy: host 0 sends a message to one circuit of its own card, whose result returns to host 0.
"""

from __future__ import annotations

from pymodels.card.registers import Forward
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, SETTLE_PS, Pair

__all__ = ["CLUSTER", "run"]
OPTIONS = {
    "circuit": Option("loopback", "name of the circuit"),
    "size": Option(8, "bytes of the message", 0, 4096, unit="bytes"),
    **CARD_OPTIONS,
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    come: list[bytes] = []
    pair, name = Pair(lab), lab.text("circuit")
    keep = {"result": lambda source, a0, a1, a2, a3, payload: come.append(bytes(payload))}
    await pair.enable([keep, {}], [name])
    await pair.near.forward(pair.cards[0], name, Forward.ENDPOINT, pair.host(0), pair.number["result"])
    await lab.kernel.sleep(SETTLE_PS, "the table to be set")
    await pair.near.send(pair.cards[0], pair.number[name], payload=bytes(lab.option("size")))
    await pair.near.wait_for(lambda: bool(come))
    lab.metric("size", len(come[0]))

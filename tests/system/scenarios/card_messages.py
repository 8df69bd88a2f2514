"""Do messages pass through circuits of a local and a remote card to another host, and are invalid ones reported?

Strategy: host 0 sends payloads to the loopback of its own card and of the other host's card. It also sends payloads
through the CRC of its own card to a handler of host 1. Then both cards subscribe to a multicast tree, and one message
goes through the CRCs of both. Each result is compared with the circuit's model. A message for a handler without a
circuit must raise an error at its sender. So must a forwarding entry for a circuit that only the sender's circuit file
contains.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from typing import Any
from unittest.mock import patch

from firmware.grim.formats import Device
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from pymodels.errors import SanlabError
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up, serve_until

CLUSTER = "two_cards"
CHANNELS = Option(2, "logical channels: the last one of each NI is its card's", 2, 32)
LARGEST = Option(4096, "bytes of the largest payload to a loop-back", 64, 4096)
OPTIONS = {**layer_options("grim"), "grim.channels": CHANNELS, "largest": LARGEST}
SIZES = (0, 5, 64, 1000, 4096)
CARDS_CHANNEL = 0b10
"""Mask of the card's channel."""
THROUGH = slice(1, 4)
"""Indices of the payloads that go through the CRC."""

Result = tuple[int, bytes]


def keep(results: list[Result]) -> Callable[..., None]:
    """Return a handler that keeps the received messages."""
    return lambda source, a0, a1, a2, a3, payload: results.append((a0, bytes(payload)))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    here: list[Result] = []
    there: list[Result] = []
    libraries = lab.start_layer("grim")
    await bring_up(lab, libraries, [{"result": keep(here)}, {"result": keep(there)}])
    grim, other = libraries
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    payloads = [random.Random(f"{lab.seed} {size}").randbytes(size) for size in sizes]
    waiting = lab.spawn(other.wait_for(lambda: len(there) == len(payloads[THROUGH])), "host 1")
    cards = [grim.get_resource(vnn, Device.CELOXICA) for vnn in (0, 1)]
    await _send(grim, cards, payloads)
    await grim.wait_for(lambda: len(here) == 2 * len(payloads))
    await waiting.finished
    expected = sorted([*enumerate(payloads), *enumerate(payloads)])
    lab.check("loop-backs", sorted(here) == expected, "the loop-backs gave back other bytes")
    model = CIRCUITS["crc32"]()
    crcs = [(number, model.run(0, payload)) for number, payload in enumerate(payloads[THROUGH])]
    lab.check("CRC of the card", there == crcs, "the CRC of the card is not its model's")
    lab.metric("results", len(here) + len(there))
    await _multicast(lab, libraries, (here, there))
    result = grim.send(cards[1], await grim.resolve_handler("result"))
    told = await _is_reported(lab, grim, result, "'result' is not a circuit of the FPGA card of node 1")
    with patch.object(grim.cards, "_circuits", [*map(str, range(19)), "newer"]):
        entry = grim.forward(cards[1], "newer", Forward.NOWHERE)
        told += await _is_reported(lab, grim, entry, "the FPGA card of node 1 has no circuit 19")
    lab.metric("reported", told)


async def _send(grim: Any, cards: list[int], payloads: list[bytes]) -> None:
    """Send every payload to both loopbacks, and some through the CRC to host 1."""
    back = await grim.resolve_handler("result")
    loopback, crc32 = await grim.resolve_handler("loopback"), await grim.resolve_handler("crc32")
    await grim.forward(cards[0], "crc32", Forward.ENDPOINT, grim.get_dest_id(1), back)
    for card in cards:
        await grim.forward(card, "loopback", Forward.REPLY)
        for number, payload in enumerate(payloads):
            await grim.send(card, loopback, number, 0, 0, back, payload)
    for number, payload in enumerate(payloads[THROUGH]):
        await grim.send(cards[0], crc32, number, payload=payload)


async def _multicast(lab: Lab, libraries: list[Any], results: tuple[list[Result], list[Result]]) -> None:
    """Send one message to the cards of both hosts by a tree; each card's CRC is forwarded to the other host."""
    grim, other = libraries
    circuit, result = await grim.resolve_handler("crc32"), await grim.resolve_handler("result")
    for found in results:
        found.clear()
    await grim.forward(grim.get_dest_id(1, Device.CELOXICA), "crc32", Forward.ENDPOINT, grim.get_dest_id(0), result)
    member = lab.spawn(other.subscribe_multicast_by_name("cards", CARDS_CHANNEL), "host 1 subscribes")
    tree = await grim.subscribe_multicast_by_name("cards", CARDS_CHANNEL)
    await serve_until(lab, [grim], lambda: member.finished.done, also=[member])
    payload = random.Random(f"{lab.seed} tree").randbytes(500)
    await grim.send_mc(tree, circuit, 7, payload=payload)
    waiting = lab.spawn(other.wait_for(lambda: bool(results[1])), "host 1")
    await grim.wait_for(lambda: bool(results[0]))
    await waiting.finished
    crc = [(7, CIRCUITS["crc32"]().run(0, payload))]
    lab.check("subscribed card", results == (crc, crc), "a card that has subscribed to a tree did not take the message")
    lab.metric("multicast", sum(map(len, results)))


async def _is_reported(lab: Lab, grim: Any, call: Coroutine[Any, Any, None], expected: str) -> int:
    """Return 1 if an error with this text arrives within 200 us of a call, otherwise 0."""
    await call
    try:
        for _ in range(200):
            await grim.poll()
            await lab.kernel.sleep(1_000_000)
    except SanlabError as error:
        return int(expected in str(error))
    return 0

"""Are cards members, senders and roots of multicast trees, and are their errors reported or ended?

Strategy: the tree's root is the NI of host 0, whose card sends its results into the tree. Members are both hosts, a
channel of host 1 beside its first, and the card of host 1, whose circuit forwards to host 1. Each result must reach
every member once, in the order of the card's messages. A circuit replies to the first sender of a copy. A circuit that
a member card lacks is an error at the first sender. A reply to a card as first sender is an error at the host of the
card that replies.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from firmware.grim.formats import Device
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from pymodels.errors import SanlabError
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up, serve_until

CLUSTER = "two_cards"
CHANNELS = Option(3, "logical channels: the last one of each NI is its card's", 3, 32)
COUNT = Option(6, "messages that the card at the root sends into the tree", 1, 100)
LARGEST = Option(1000, "bytes of the largest message", 8, 4096)
OPTIONS = {**layer_options("grim"), "grim.channels": CHANNELS, "count": COUNT, "largest": LARGEST}
HOST, CARD = 0b001, 0b100
"""Masks of the channels of a host and of its card."""
SETTLED_PS = 300_000_000

Result = tuple[int, bytes]


def keep(results: list[Result]) -> Callable[..., None]:
    """Return a handler that keeps the received messages."""
    return lambda source, a0, a1, a2, a3, payload: results.append((a0, bytes(payload)))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    came: list[list[Result]] = [[], []]
    through: list[list[Result]] = [[], []]
    libraries = lab.start_layer("grim")
    handlers = [{"loopback": keep(came[node]), "result": keep(through[node])} for node in (0, 1)]
    await bring_up(lab, libraries, handlers)
    near, far = libraries
    cards = [near.get_resource(vnn, Device.CELOXICA) for vnn in (0, 1)]
    loopback, crc32, result = [await near.resolve_handler(name) for name in ("loopback", "crc32", "result")]
    tree = await near.subscribe_multicast_by_name("results", HOST)
    member = lab.spawn(far.subscribe_multicast_by_name("results", HOST | CARD), "host 1 subscribes")
    await serve_until(lab, [near], lambda: member.finished.done, also=[member])
    await near.forward(cards[0], "crc32", Forward.TREE, tree, loopback)
    await near.forward(cards[1], "loopback", Forward.ENDPOINT, near.get_dest_id(1), result)

    sizes = [random.Random(f"{lab.seed} {n}").randrange(lab.option("largest") + 1) for n in range(lab.option("count"))]
    payloads = [random.Random(f"{lab.seed} {size}").randbytes(size) for size in sizes]
    expected = [(number, CIRCUITS["crc32"]().run(0, payload)) for number, payload in enumerate(payloads)]
    waiting = lab.spawn(near.wait_for(lambda: len(came[0]) == len(payloads)), "host 0")
    for number, payload in enumerate(payloads):
        await far.send(cards[0], crc32, number, payload=payload)
    await far.wait_for(lambda: len(came[1]) == len(through[1]) == len(payloads))
    await waiting.finished
    for name, found in (("host 0", came[0]), ("host 1", came[1]), ("card 1", through[1])):
        lab.check("results of the tree", found == expected, f"{name} got {len(found)} other results")
    lab.metric("delivered", sum(map(len, (*came, *through))))

    lab.metric("replies", await _replies(lab, libraries, (tree, loopback, result), through))
    lab.metric("reported", await _unknown_circuit(lab, far, tree, result))
    lab.metric("ended", await _reply_to_a_card(lab, libraries, cards, (crc32, loopback)))


async def _replies(lab: Lab, libraries: Any, numbers: tuple[int, int, int], through: list[list[Result]]) -> int:
    """Return the replies that reach the first sender of a message to the tree, from the card of host 1."""
    near = libraries[0]
    tree, loopback, result = numbers
    card = near.get_resource(1, Device.CELOXICA)
    await near.forward(card, "loopback", Forward.REPLY)
    await lab.kernel.sleep(SETTLED_PS)
    through[0].clear()
    await near.send_mc(tree, loopback, 7, 0, 0, result, payload=b"to the sender", channel=1)
    await near.wait_for(lambda: bool(through[0]))
    lab.check("reply to the first sender", through[0] == [(7, b"to the sender")], f"it is {through[0]}")
    return len(through[0])


async def _unknown_circuit(lab: Lab, grim: Any, tree: int, result: int) -> int:
    """Return 1 if a handler that is no circuit of the member card is an error at the first sender."""
    await grim.send_mc(tree, result)
    return await _error(lab, grim, "'result' is not a circuit of the FPGA card of node 1")


async def _reply_to_a_card(lab: Lab, libraries: Any, cards: list[int], numbers: tuple[int, int]) -> int:
    """Return 1 if the reply of card 1 to card 0 is an error at the host of card 1."""
    near, far = libraries
    await near.send(cards[0], numbers[0], 0, 0, 0, numbers[1], payload=b"a card is the first sender")
    return await _error(lab, far, "VNN 0, channel 2 rejected a message permanently")


async def _error(lab: Lab, grim: Any, expected: str) -> int:
    """Return 1 if a call raises an error with this text within 200 us, otherwise 0."""
    try:
        for _ in range(200):
            await grim.poll()
            await lab.kernel.sleep(1_000_000)
    except SanlabError as error:
        return int(expected in str(error))
    return 0

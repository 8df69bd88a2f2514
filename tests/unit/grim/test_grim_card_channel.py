"""Messages that a card sends and receives beside the special ways of hosts: fetched payloads, multicast trees.

Strategy: the far node has a card with memory, but without a shell. The test writes a message into the card's queue, as
the shell does, with old bytes where a host writes the address of a payload. A multicast to a tree with the card must
have the source without connection tag, because a card replies to the source.
"""

from __future__ import annotations

from firmware.grim.formats import HEADER_BYTES, Device, Header, MessageType, endpoint, logical_channel, unpack
from firmware.grim.nic.layout import ROUTE_BYTES, Register
from pymodels.card.registers import BANK_BYTES
from tests.unit.grim.grim_card_bench import FILLED, CardBench

HANDLER = 77
CARD_CHANNEL = 1
PAYLOAD = bytes(range(64))
OLD_ROUTE = 0x1234


def test_payload_of_a_message_from_a_card_is_not_fetched_from_host_memory() -> None:
    card = CardBench(dma_inject=1)
    received: list[bytes] = []
    nic, layout = card.bench.machine.nic(1), card.far.layout

    def take(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        received.append(bytes(payload))

    async def application() -> None:
        card.near.register_handler(take, "take")
        await card.near.sync_handlers()
        handler = await card.near.resolve_handler("take")
        header = Header(
            0, 0, MessageType.ACTIVE, 0, 0, endpoint(1, Device.CELOXICA), len(PAYLOAD) // 4,
            endpoint(0, Device.HOST), logical_channel(CARD_CHANNEL, 0), handler, (0, 0, 0, 0),
        )  # fmt: skip
        at = layout.queues[CARD_CHANNEL]
        nic.store_words(at, (OLD_ROUTE, 0))
        data = header.pack() + PAYLOAD
        for offset in range(0, len(data), 4):
            nic.store(at + ROUTE_BYTES + offset, int.from_bytes(data[offset : offset + 4], "big"))
        nic.store(layout.register(CARD_CHANNEL, Register.BACK), ROUTE_BYTES + HEADER_BYTES + len(PAYLOAD))
        await card.near.wait_for(lambda: bool(received))

    card.run(application)
    assert received == [PAYLOAD]


def test_card_in_a_tree_receives_the_source_without_connection_tag() -> None:
    card = CardBench(timeout_us=1000)
    near, far = card.near, card.far
    near.handlers.names[HANDLER] = "loopback"

    async def application() -> None:
        subscribed = card.bench.machine.kernel.spawn(
            far.subscribe_multicast_by_name("tree", 1 << CARD_CHANNEL), "subscription"
        )
        await near.wait_for(lambda: subscribed.finished.done)
        await subscribed.finished
        await near.send_mc(await near.find_multicast_tree("tree"), HANDLER, payload=PAYLOAD)
        await near.host.sleep(100_000_000)

    card.run(application)
    banks = card.window.banks
    assert banks[:HEADER_BYTES] != FILLED * HEADER_BYTES and banks[BANK_BYTES : BANK_BYTES + 1] == FILLED
    header = unpack(memoryview(banks))
    assert header.source == endpoint(0, Device.HOST)
    assert banks[HEADER_BYTES : HEADER_BYTES + len(PAYLOAD)] == PAYLOAD

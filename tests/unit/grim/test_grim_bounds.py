"""Limits of options and queues, exactly.

Strategy: every option gets its smallest and its largest value, and one beyond each. The queue of a multicast tree is
filled, with children that do not receive, until it holds as many copies as it has tokens.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.grim.formats import TREE_TOKENS
from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter, Layout
from firmware.grim.options import Options
from firmware.options import OptionError
from tests.unit.grim.grim_bench import Bench

UNITS = {"segment_bytes": 4, "cut_through_bytes": 8, "cut_through_least": 8}
"""Options that allow only multiples, with the unit."""


NUMBERS = {name: one for name, one in Options.declared().items() if not one.choices}


@pytest.mark.parametrize("name", NUMBERS)
def test_option_accepts_exactly_its_range(name: str) -> None:
    least, most = int(NUMBERS[name].low), int(NUMBERS[name].high)
    unit = UNITS.get(name, 1)
    for value in (least, most - most % unit):
        assert getattr(Options.from_values({name: value}), name) == value
    for value in (least - 1, most + 1):
        with pytest.raises(OptionError) as caught:
            Options.from_values({name: value})
        assert str(caught.value) == f"value out of range: grim.{name} is {value}; give {least} to {most}"


@pytest.mark.parametrize("name", UNITS)
def test_option_with_a_unit_accepts_only_multiples(name: str) -> None:
    unit = UNITS[name]
    assert getattr(Options.from_values({name: 2 * unit}), name) == 2 * unit
    for value in (2 * unit - 1, 2 * unit + 1):
        with pytest.raises(OptionError, match=f"^option {name}: {value} is not a multiple of {unit}; round it"):
            Options.from_values({name: value})


@pytest.mark.parametrize(("style", "channels", "fits"), [("append", 32, 32), ("slotted", 30, 24), ("hybrid", 30, 24)])
def test_channels_without_tokens_left_by_trees_are_rejected(style: str, channels: int, fits: int) -> None:
    """24 trees leave 48 tokens, enough for 24 channels: a ring of slots keeps one of its two free."""
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        if me == 0:
            await library.wait_for(lambda: library.nodes_served == 1)
        else:
            await library.sync_handlers()
            got.append(me)

    Bench(2, channels=fits, multicast_trees=24, queue_style=style).run(node, within_us=10_000)
    assert got == [1]
    if channels > fits:
        with pytest.raises(
            OptionError, match="^option multicast_trees: 24 trees leave 1 tokens for each of 30 channels"
        ):
            Bench(2, channels=channels, multicast_trees=24, queue_style=style)


@pytest.mark.parametrize(
    ("segment", "cut", "trees", "own", "need", "ring"),
    [
        (4096, 0, 0, 21, 6 + 21 * 3, 128),
        (4096, 4096 // 25, 0, 4, 2 * 29 + 4 * 3, 256),
        (4096, 4096 // 26, 0, 3, 2 * 30 + 3 * 3, 128),
        (2048, 0, 0, 32, 4 + 32 * 2, 128),
        (12 * 4096, 0, 0, 3, 2 * 14 + 3 * 14, 256),
        (4096, 0, 1, 39, 2 * 16 + 3 * 16 + 39 * 3, 256),
        (2048, 0, 1, 59, 2 * 16 + 3 * 16 + 59 * 2, 512),
    ],
)
def test_host_dma_ring_has_a_block_for_every_possible_delivery_and_a_spare_one(
    segment: int, cut: int, trees: int, own: int, need: int, ring: int
) -> None:
    """Compute the need of blocks. For each of two buffers, it is the maximum of pages, pieces and copies. Pages are
    whole pages and one more at either end, pieces are whole pieces and four more, copies are for two hosts' eight
    channels. Added are three times those copies, the pages of each own segment, two for each report and each drained
    message, and ten. Each need is close to a power of two, so that an error changes the size of the ring.
    """
    chosen: dict[str, Any] = {"segment_bytes": segment, "cut_through_bytes": cut - cut % 8, "multicast_trees": trees}
    chosen |= {"cut_through_least": cut - cut % 8} if cut else {}
    slot = Layout(Options(**chosen), 2, 1 << 21).slot
    layout = Layout(Options(**chosen, reply_bytes=(own - 1) * slot), 2, 1 << 21)
    need += 2 * (16 + 8) + 10
    assert ring // 2 <= need < ring == layout.blocks_count, need


@pytest.mark.parametrize(
    ("messages", "bytes_of_fifo"), [(512, 4096), (513, 8192), (1024, 8192), (1025, 16384), (2048, 16384)]
)
def test_doorbell_fifo_is_the_smallest_with_an_entry_for_every_message(messages: int, bytes_of_fifo: int) -> None:
    """Send short messages, which take 40 bytes of a queue; it holds one more at its end, and an entry takes 8 bytes."""
    layout = Layout(Options(doorbell_notify=1, queue_bytes=40 * (messages - 1)), 2, 1 << 21)
    assert layout.doorbell_bytes == bytes_of_fifo
    assert layout.doorbells % bytes_of_fifo == 0


@pytest.mark.parametrize("children", [1, 2])
def test_tree_queue_takes_as_many_copies_as_it_has_tokens(children: int) -> None:
    """Let the children not poll: their queues fill, and all other messages wait at the root."""
    bench = Bench(1 + children, host_queue_bytes=1024, segment_bytes=128)
    came = [0] * (1 + children)
    looked: list[int] = []
    sent = 60

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            came[me] += 1

        handler = (await bench.publish(library, data=on_data))["data"]
        await library.host.sleep(200_000_000)
        if me == 0:
            copies, accepted = bench.count(0, Counter.COPIES), bench.total(Counter.ACCEPTED)
            for _ in range(sent):
                await library.broadcast(handler)
            for _ in range(50):
                await library.host.sleep(10_000_000)
                await library.poll()
            accepted = bench.total(Counter.ACCEPTED) - accepted
            assert 0 < accepted < children * sent
            assert bench.count(0, Counter.COPIES) - copies - accepted == TREE_TOKENS
            looked.append(accepted)
        while not looked:
            await library.host.sleep(10_000_000)
        await library.wait_for(lambda: came[me] == sent)

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()

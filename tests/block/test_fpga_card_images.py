"""Images of the FPGA card: swapped and loaded during messages, rejected, and circuits that no image contains.

Strategy: as in `test_fpga_card`, the bench acts as host and NIC with real PCI transactions. An image is swapped after
the current message, between messages, and while a message for it waits; only then must the state of its circuits be
lost. Images with each kind of error, written or fetched, must have the outcome of the reference model
(`pymodels.card.image.judge`), and messages wait or are answered accordingly. A missing entry or circuit is reported to
the requester, and changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import EXAMPLE, names
from pymodels.card.image import build, judge
from pymodels.card.registers import CONFIG, CONFIG_LOADING, SLOTS, CardError, CardReg, Configure, Forward, Load, entry
from tests.block.card_bench import (
    CARD,
    CONTROL_HANDLER,
    DIGESTS,
    ERROR_HANDLER,
    FILTERS,
    REPLY_HANDLER,
    SELF,
    SOURCE,
    begin,
    check_end,
    forward,
    handler_of,
    image_of,
)

FULL = 0x01010101
"""An image number in each slot: this times the number."""


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def state_is_kept_from_message_to_message_and_dropped_by_a_reconfiguration(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "fir16", Forward.REPLY)
    await forward(bench, "histogram", Forward.REPLY)
    fir, histogram = CIRCUITS["fir16"](), CIRCUITS["histogram"]()
    coefficients = bench.rng.randbytes(32)
    for circuit, model, argument, payload in (
        ("fir16", fir, 1, coefficients),
        ("fir16", fir, 0, bench.rng.randbytes(60)),
        ("histogram", histogram, 2, b""),
        ("histogram", histogram, 0, bench.rng.randbytes(50)),
        ("fir16", fir, 0, bench.rng.randbytes(32)),
        ("histogram", histogram, 1, b""),
    ):
        await bench.send(handler_of(circuit), (argument, 0, 0, REPLY_HANDLER), payload)
        assert (await bench.result())[1] == model.run(argument, payload)
    await bench.load(DIGESTS)
    await bench.load(FILTERS)
    await bench.send(handler_of("fir16"), (0, 0, 0, REPLY_HANDLER), b"\x00\x40" * 20)
    assert (await bench.result())[1] == bytes(40), "the coefficients are reset"
    check_end(bench)


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def a_message_for_a_circuit_being_swapped_waits_and_is_not_lost(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "crc32", Forward.REPLY)
    await forward(bench, "loopback", Forward.REPLY)
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), b"digest me")
    await bench.send(handler_of("loopback"), (1, 0, 0, REPLY_HANDLER), b"behind it")
    await ClockCycles(dut.clk, 2000)
    assert await bench.read(CardReg.MESSAGES) == 2, "it waits in its queue, and later messages keep their order"
    await bench.load(DIGESTS)
    assert (await bench.result())[1] == CIRCUITS["crc32"]().run(0, b"digest me")
    assert (await bench.result())[1] == b"behind it"
    check_end(bench)


@cocotb.test(timeout_time=40, timeout_unit="ms")
@cocotb.parametrize(size=[8, 1000], byte_clocks=[1, 3])
async def an_image_is_swapped_after_the_current_message(dut: Any, size: int, byte_clocks: int) -> None:
    bench = await begin(dut, DIGESTS, divisor=3, cfg_config_wait=byte_clocks - 1)
    await forward(bench, "crc32", Forward.REPLY)
    await forward(bench, "fir16", Forward.REPLY)
    payload = bench.rng.randbytes(1200)
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), payload)
    while not int(dut.tr_take.value):
        await RisingEdge(dut.f_clk)
    bench.put_image(build(EXAMPLE, FILTERS, None, size).pack())
    given = cocotb.start_soon(_edges_until(dut, dut.tr_give))
    while await bench.read(CardReg.CONFIG) & CONFIG_LOADING:
        assert await bench.read(CardReg.IMAGE) in (FULL * image_of(DIGESTS), 0) or given.done()
    assert (await bench.result())[1] == CIRCUITS["crc32"]().run(0, payload)
    assert await bench.read(CardReg.IMAGE) == FULL * image_of(FILTERS)
    assert await _edges_since(dut, given) >= size * byte_clocks, "the frames follow when the message is done with"
    fir = CIRCUITS["fir16"]()
    for argument, samples in ((1, bench.rng.randbytes(32)), (0, bench.rng.randbytes(40))):
        await bench.send(handler_of("fir16"), (argument, 0, 0, REPLY_HANDLER), samples)
        assert (await bench.result())[1] == fir.run(argument, samples)
    check_end(bench)


async def _edges_until(dut: Any, strobe: Any) -> int:
    """Return the time in ns at which a strobe of the fabric occurs."""
    while not int(strobe.value):
        await RisingEdge(dut.f_clk)
    return int(get_sim_time("ns"))


async def _edges_since(dut: Any, given: Any) -> int:
    """Return the PCI clocks since the time that a task has returned."""
    return (int(get_sim_time("ns")) - int(await given)) // 30


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def an_image_reloaded_under_load_has_lost_its_state(dut: Any) -> None:
    bench = await begin(dut, FILTERS, divisor=3)
    await forward(bench, "fir16", Forward.REPLY)
    fir = CIRCUITS["fir16"]()
    taps, samples = bench.rng.randbytes(32), bench.rng.randbytes(600)
    await bench.send(handler_of("fir16"), (1, 0, 0, REPLY_HANDLER), taps)
    assert (await bench.result())[1] == fir.run(1, taps)
    await bench.send(handler_of("fir16"), (0, 0, 0, REPLY_HANDLER), samples)
    await bench.send(handler_of("fir16"), (0, 1, 0, REPLY_HANDLER), samples)
    while not int(dut.tr_take.value):
        await RisingEdge(dut.f_clk)
    for _ in range(2):  # the second waits for the first, and that for the current message
        bench.put_image(build(EXAMPLE, FILTERS, None, 40).pack())
    assert (await bench.result())[1] == fir.run(0, samples)
    assert (await bench.result())[1] == bytes(600), "the coefficients are reset"
    check_end(bench)


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def one_slot_is_loaded_while_another_one_works(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    for circuit in ("crc32", "histogram", "loopback", "fir16"):
        await forward(bench, circuit, Forward.REPLY)
    histogram = CIRCUITS["histogram"]()
    payload = bench.rng.randbytes(100)
    await bench.send(handler_of("histogram"), (0, 0, 0, REPLY_HANDLER), payload)
    assert (await bench.result())[1] == histogram.run(0, payload)
    data = build(EXAMPLE, DIGESTS, 0, 600).pack()
    bench.write(CardReg.CONFIG, Configure.START)
    bench.cpu.store(CARD + CONFIG, data[:400])
    while await bench.read(CardReg.IMAGE) & 0xFF:
        pass
    assert await bench.read(CardReg.IMAGE) == FULL * image_of(FILTERS) & ~0xFF, "the slot is empty, the others are not"
    for number in range(3):
        await bench.send(handler_of("loopback"), (number, 0, 0, REPLY_HANDLER), b"meanwhile")
        assert (await bench.result())[1] == b"meanwhile"
    assert await bench.read(CardReg.CONFIG) & CONFIG_LOADING, "and the slot is still being loaded"
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), b"new circuit")
    await ClockCycles(dut.clk, 1000)
    assert await bench.read(CardReg.RESULTS) == 8, "four forwarding entries, a histogram and three messages"
    bench.cpu.store(CARD + CONFIG, data[400:])
    bench.write(CardReg.CONFIG, Configure.END)
    assert (await bench.result())[1] == CIRCUITS["crc32"]().run(0, b"new circuit"), "it has waited for its slot"
    assert await bench.outcome() == Load.DONE
    assert await bench.read(CardReg.IMAGE) == FULL * image_of(FILTERS) + image_of(DIGESTS) - image_of(FILTERS)
    await bench.send(handler_of("histogram"), (1, 0, 0, REPLY_HANDLER), b"")
    assert (await bench.result())[1] == histogram.run(1, b""), "the state of another slot is kept"
    check_end(bench)


@cocotb.test(timeout_time=40, timeout_unit="ms")
@cocotb.parametrize(fetched=[False, True])
async def a_bad_image_leaves_what_its_error_says_and_loses_no_message(dut: Any, fetched: bool) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "loopback", Forward.REPLY)
    await forward(bench, "histogram", Forward.REPLY)
    good = build(EXAMPLE, DIGESTS, 2, 96)
    whole = build(EXAMPLE, DIGESTS, None, 96)
    bad = {
        "text": b"not an image, but some text" * 3,
        "header": flipped(good.pack(), 7),
        "card": replace(good, part=7).pack(),
        "version": replace(good, version=9).pack(),
        "circuits": replace(good, identity=good.identity ^ 1).pack(),
        "number": replace(good, number=3).pack(),
        "slot": replace(good, slot=4).pack(),
        "short": good.pack()[:16],
        "truncated": good.pack()[:-8],
        "no crc": good.pack()[:-4],
        "damaged": flipped(good.pack(), 60),
        "whole damaged": flipped(whole.pack(), 90),
        "partial without shell": good.pack(),
    }
    images, configured = [image_of(FILTERS)] * SLOTS, True
    for name, data in bad.items():
        verdict = judge(data, EXAMPLE, configured)
        assert verdict.outcome > Load.DONE, name
        if fetched:
            await bench.fetch_image(data + bytes(-len(data) % 4))
        else:
            bench.put_image(data + bytes(-len(data) % 4))
        assert await bench.outcome() == verdict.outcome, name
        configured &= len(verdict.emptied) < SLOTS
        for slot in verdict.emptied:
            images[slot] = 0
        assert (await bench.read(CardReg.IMAGE)).to_bytes(4, "little") == bytes(images), name
        assert await bench.read(CardReg.CONFIG_BYTES) == verdict.taken, name
        if images[2]:
            await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), name.encode())
            assert (await bench.result())[1] == name.encode(), "the old circuit answers"
        elif name == "damaged":
            await bench.send(handler_of("histogram"), (2, 0, 0, REPLY_HANDLER), b"")
            assert (await bench.result())[1] == b"", "the other slots answer"
            await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"waits")
    assert not any(images)
    await ClockCycles(dut.clk, 1000)
    await bench.load(DIGESTS)
    assert (await bench.result())[1] == b"waits"
    check_end(bench)


def flipped(data: bytes, at: int) -> bytes:
    """Return data with one bit changed."""
    return data[:at] + bytes((data[at] ^ 0x10,)) + data[at + 1 :]


@cocotb.test(timeout_time=40, timeout_unit="ms")
async def results_leave_while_the_cards_dma_fetches_an_image(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "loopback", Forward.REPLY)
    bench.begin_fetch(build(EXAMPLE, DIGESTS, 0, 6000).pack())
    while await bench.read(CardReg.IMAGE) & 0xFF:
        pass
    for number in range(6):
        await bench.send(handler_of("loopback"), (number, 0, 0, REPLY_HANDLER), bytes(200))
        begin_ns = get_sim_time("ns")
        assert len((await bench.result())[1]) == 200
        assert get_sim_time("ns") - begin_ns < 30 * 600, "a piece of the image takes 128 clocks"
    assert await bench.read(CardReg.DMA_BYTES), "the results did not wait for the image"
    await bench.end_fetch()
    assert await bench.outcome() == Load.DONE
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_entry_for_a_missing_circuit_is_reported_and_overwrites_none(dut: Any) -> None:
    bench = await begin(dut, DIGESTS)
    await forward(bench, "crc32", Forward.REPLY)
    number = names(EXAMPLE).index("crc32")
    place, handler = entry(Forward.NOWHERE)
    for wrong in (len(names(EXAMPLE)), 16 + number, 256 + number, 1 << 31 | number):
        await bench.send(CONTROL_HANDLER, (wrong, place, handler, REPLY_HANDLER), b"", token=9)
        header, _ = await bench.result()
        assert (header.destination, header.handler) == (SOURCE, ERROR_HANDLER)
        assert header.arguments[:3] == (CardError.UNKNOWN_ENTRY, wrong, SELF)
        assert header.arguments[3] >> 8 & 0xFF == 9
    assert await bench.read(CardReg.REFUSED) == 4
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), b"still answered")
    assert (await bench.result())[1] == CIRCUITS["crc32"]().run(0, b"still answered")
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_message_for_a_missing_circuit_is_reported_to_its_source(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await bench.send(999, (1, 2, 3, 4), b"whatever", token=77)
    header, _ = await bench.result()
    assert (header.destination, header.handler) == (SOURCE, ERROR_HANDLER)
    assert header.arguments[:3] == (1, 999, SELF)
    assert header.arguments[3] >> 8 & 0xFF == 77
    assert await bench.read(CardReg.REFUSED) == 1
    check_end(bench)

"""Images of the FPGA card: swapped and loaded during messages, rejected, and circuits that no image contains.

Strategy: as in `test_fpga_card`, the bench acts as host and NIC with real PCI transactions. An image is swapped after
the current message, between messages, and while a message for it waits; only then must the state of its circuits be
lost. A missing image, entry or circuit is reported to the requester, and changes nothing.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import EXAMPLE, names
from pymodels.card.registers import NO_SUCH_IMAGE, CardError, CardReg, Forward, entry
from tests.block.card_bench import (
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
@cocotb.parametrize(clocks=[1, 3000])
async def an_image_is_swapped_after_the_current_message(dut: Any, clocks: int) -> None:
    bench = await begin(dut, DIGESTS, divisor=3)
    await forward(bench, "crc32", Forward.REPLY)
    await forward(bench, "fir16", Forward.REPLY)
    bench.write(CardReg.CONFIG_CLOCKS, clocks)
    payload = bench.rng.randbytes(1200)
    await bench.send(handler_of("crc32"), (0, 0, 0, REPLY_HANDLER), payload)
    while not int(dut.tr_take.value):
        await RisingEdge(dut.f_clk)
    bench.write(CardReg.IMAGE, image_of(FILTERS))
    given = cocotb.start_soon(_edges_until(dut, dut.tr_give))
    while await bench.read(CardReg.IMAGE) != image_of(FILTERS):
        assert await bench.read(CardReg.IMAGE) >> 31 or given.done(), "it is loaded in the midst of a message"
    assert (await bench.result())[1] == CIRCUITS["crc32"]().run(0, payload)
    assert await _edges_since(dut, given) >= clocks, "the loading begins when the message is done with"
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
    bench.write(CardReg.CONFIG_CLOCKS, 1)
    for _ in range(2):  # the second waits for the first, and that for the current message
        bench.write(CardReg.IMAGE, image_of(FILTERS))
    assert (await bench.result())[1] == fir.run(0, samples)
    assert (await bench.result())[1] == bytes(600), "the coefficients are reset"
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def an_unknown_image_is_rejected_and_leaves_no_image(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "loopback", Forward.REPLY)
    for number in (3, 77, 256 + 1):
        bench.write(CardReg.IMAGE, number)
        while (told := await bench.read(CardReg.IMAGE)) >> 31:
            pass
        assert told == NO_SUCH_IMAGE
    await bench.load(FILTERS)
    await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"as before")
    assert (await bench.result())[1] == b"as before"
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

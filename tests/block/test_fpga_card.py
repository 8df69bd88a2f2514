"""FPGA card on its PCI bus, from a message in its banks to the result in the NIC's queue.

Strategy: the bench acts as host and NIC with real PCI transactions under the protocol monitor. Random messages go to
the circuits of the example in turn. Results must match the models', in order and with the headers given by the
forwarding table, while rings wrap and the NIC's queue fills. Two fabric clocks are not multiples of the PCI clock, one
with a divided user clock. A host that holds a bank, an unread mailbox and the card's own DMA each have their test. A
bank must never be accessed by the side that does not own it.
"""

from __future__ import annotations

import struct
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from firmware.grim.formats import MessageType
from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import EXAMPLE
from pymodels.card.image import build
from pymodels.card.registers import BANK_BYTES, CardReg, Command, Forward, Load
from tests.block.card_bench import (
    CARD,
    CHANNEL,
    DIGESTS,
    ERROR_HANDLER,
    FILTERS,
    REPLY_HANDLER,
    SELF,
    SOURCE,
    SOURCE_CHANNEL,
    CardBench,
    begin,
    check_end,
    forward,
    handler_of,
)
from tests.block.cases import some
from tests.block.resets import unreset


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def each_circuit_answers_its_source_with_the_models_result(dut: Any) -> None:
    bench = await begin(dut, DIGESTS, 10000)
    for circuit in ("crc32", "sha256", "loopback"):
        await forward(bench, circuit, Forward.REPLY)
        for size in some((3, 200, 0, 1, 64)):
            payload = bench.rng.randbytes(size)
            await bench.send(handler_of(circuit), (1, size, 0xFFFFFFFF, REPLY_HANDLER), payload)
            header, result = await bench.result()
            assert result == CIRCUITS[circuit]().run(1, payload)
            assert header.arguments == (1, size, 0xFFFFFFFF, REPLY_HANDLER)
            assert (header.source, header.destination) == (SELF, SOURCE)
            assert (header.channel, header.handler) == (CHANNEL << 8 | SOURCE_CHANNEL, REPLY_HANDLER)
    await bench.quiet()
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def results_for_a_tree_are_multicast_messages_to_its_root(dut: Any) -> None:
    bench = await begin(dut, DIGESTS)
    for tree, root in some(((0, 0x0001), (3, 0x0701), (23, 0xFF01))):
        await forward(bench, "crc32", Forward.TREE, root, 4 + tree, tree)
        await bench.send(handler_of("crc32"), (1, 2, 3, 4), b"payload")
        header, result = await bench.result()
        assert result == CIRCUITS["crc32"]().run(1, b"payload")
        assert (header.type, header.tree, header.arguments) == (MessageType.MULTICAST, tree, (1, 2, 3, 4))
        assert (header.source, header.destination) == (SELF, root)
        assert (header.channel, header.handler) == (CHANNEL << 8 | 4 + tree, 99)
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def copies_of_a_tree_are_answered_to_their_first_sender(dut: Any) -> None:
    bench = await begin(dut, DIGESTS)
    await forward(bench, "loopback", Forward.REPLY)
    for kind in some((MessageType.FORWARDED, MessageType.FORWARDED_SEGMENT, MessageType.FORWARDED_LAST)):
        for handler, answer in ((handler_of("loopback"), REPLY_HANDLER), (999, ERROR_HANDLER)):
            await bench.send(handler, (0, 0, 0, REPLY_HANDLER), b"copy", kind=kind, destination=0x0906)
            header, _ = await bench.result()
            assert (header.type, header.destination) == (MessageType.ACTIVE, 0x0900)
            assert (header.channel, header.handler) == (CHANNEL << 8 | 6, answer)
    await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"at the root", kind=MessageType.MULTICAST)
    header, _ = await bench.result()
    assert (header.destination, header.channel) == (SOURCE, CHANNEL << 8 | SOURCE_CHANNEL)
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def results_become_remote_writes_and_reads(dut: Any) -> None:
    bench = await begin(dut, DIGESTS, 10000)
    await forward(bench, "loopback", Forward.WRITE, 0x0702, 4)
    arguments = (9, 0x600010, 0x600000, 0xC0FFEE)
    for size in (3, 64, 0, 1001):
        payload = bench.rng.randbytes(size)
        await bench.send(handler_of("loopback"), arguments, payload)
        if not size:
            continue  # an empty result writes nothing
        header, result = await bench.result()
        assert (header.type, result) == (MessageType.RM_V, payload)
        assert header.arguments == (0x600010, 0x600000, 0xC0FFEE, size), "target, lock, value, span"
        assert (header.source, header.destination, header.handler) == (SELF, 0x0702, 0)
        assert header.channel == CHANNEL << 8 | 4
    await forward(bench, "loopback", Forward.FETCH, 0x0702, 4)
    for words, size in (
        ((0x40001000, 0x610000, 2048, 0x600004), 2048),
        ((4, 8, 12), 12),
        ((4, 8, 0x10000, 12), 0),
        ((), 0),
        ((0x40001000, 0x610000, 0xFFFF, 0, 5, 6, 7), 0xFFFF),
    ):
        await bench.send(handler_of("loopback"), (0, 0, 0, 0), struct.pack(f"<{len(words)}I", *words))
        if not words:
            continue
        header, result = await bench.result()
        assert (header.type, header.bytes, result) == (MessageType.RM_RV, 0, b"")
        source, target, span, lock = (*words, 0, 0)[:4]
        assert header.handler == size, "bytes; 0, which is rejected, if they exceed 16 bits"
        assert header.arguments == (source, target, lock, span)
        assert (header.destination, header.channel) == (0x0702, CHANNEL << 8 | 4)
    await bench.quiet()
    check_end(bench)


@cocotb.test(timeout_time=1, timeout_unit="ms", skip="Icarus" not in getattr(cocotb, "SIM_NAME", ""))
async def reset_reaches_all_control_state(dut: Any) -> None:
    CardBench(dut, 10000)
    await ClockCycles(dut.clk, 6)
    assert not unreset(dut.u_card)


@cocotb.test(timeout_time=60, timeout_unit="ms")
async def a_stream_that_wraps_both_rings_arrives_whole_and_in_order(dut: Any) -> None:
    bench = await begin(dut, FILTERS, 13100, divisor=1)
    await forward(bench, "loopback", Forward.ENDPOINT, 0x0700, 3)
    sent = [bench.rng.randbytes(bench.rng.choice((0, 5, 64, 1000, 2048))) for _ in some(range(40))]

    async def give() -> None:
        for number, payload in enumerate(sent):
            await bench.send(handler_of("loopback"), (number, 0, 0, 0), payload)

    giving = cocotb.start_soon(give())
    for number, payload in enumerate(sent):
        if number % 9 == 8:
            await ClockCycles(bench.dut.clk, 3000)  # the NIC's queue fills
        header, result = await bench.result()
        assert header.arguments[0] == number
        assert result == payload
        assert (header.destination, header.channel, header.handler) == (0x0700, CHANNEL << 8 | 3, 99)
    await giving
    assert await bench.read(CardReg.MESSAGES) == len(sent) + 1 == await bench.read(CardReg.RESULTS)
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_shell_pauses_and_resumes_by_mailbox_and_an_unread_one_is_reported(dut: Any) -> None:
    bench = await begin(dut, FILTERS, cfg_patience=500)
    await forward(bench, "loopback", Forward.REPLY)
    bench.write(CardReg.CONTROL, Command.PAUSE)
    while await bench.read(CardReg.STATUS) != 0x100 | Command.PAUSE:
        pass
    bench.write(CardReg.STATUS, 0)
    await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"later")
    await ClockCycles(dut.clk, 1000)
    assert await bench.read(CardReg.MESSAGES) == 1
    bench.write(CardReg.CONTROL, Command.RESUME)
    assert (await bench.result())[1] == b"later"
    await bench.clear()  # an unconfigured FPGA does not read its mailbox
    bench.write(CardReg.CONTROL, Command.PAUSE)
    bench.write(CardReg.CONTROL, Command.PAUSE)
    for _ in range(2000):
        await RisingEdge(dut.clk)
        if int(dut.ev_mailbox.value):
            return
    raise AssertionError("the write waits without any indication")


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_bank_held_by_the_host_is_used_after_its_release(dut: Any) -> None:
    bench = await begin(dut, FILTERS)
    await forward(bench, "loopback", Forward.REPLY)
    bench.write(CardReg.OWN, 4)
    assert await bench.read(CardReg.OWN) & 0x44 == 0x44, "requested and granted"
    await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"patience")
    await ClockCycles(dut.clk, 1000)
    assert await bench.read(CardReg.RESULTS) == 1
    bench.write(CardReg.OWN, 0)
    assert (await bench.result())[1] == b"patience"
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_circuit_is_given_a_word_a_user_clock(dut: Any) -> None:
    bench = await begin(dut, DIGESTS, divisor=1)
    await forward(bench, "loopback", Forward.NOWHERE)
    bank = bench.turn
    await bench.send(handler_of("loopback"), (0, 0, 0, 0), bench.rng.randbytes(1024))
    while not int(dut.tr_take.value):
        await RisingEdge(dut.f_clk)
    clocks = 0
    while bench.fpga_owns(bank):
        await RisingEdge(dut.f_clk)
        clocks += 1
    assert 2 * 256 <= clocks < 2 * 256 + 40, "256 words at half the fabric's clock, and the crossing of the grant"
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_incoming_bank_is_released_while_the_circuit_still_works(dut: Any) -> None:
    bench = await begin(dut, DIGESTS)
    await forward(bench, "sha256", Forward.REPLY)
    bank = bench.turn
    await bench.send(handler_of("sha256"), (0, 0, 0, REPLY_HANDLER), bytes(64))
    while not int(dut.tr_take.value):
        await RisingEdge(dut.f_clk)
    while bench.fpga_owns(bank):
        await RisingEdge(dut.f_clk)
    assert not int(dut.tr_give.value) and bench.fpga_owns(2), "two rounds of 64 clocks are still to do"
    assert (await bench.result())[1] == CIRCUITS["sha256"]().run(0, bytes(64))
    check_end(bench)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_host_that_holds_a_bank_does_not_block_the_incoming_queues(dut: Any) -> None:
    bench = await begin(dut, FILTERS, cfg_patience=400)
    await forward(bench, "loopback", Forward.NOWHERE)
    bench.write(CardReg.OWN, 8)
    assert await bench.read(CardReg.OWN) & 0x88 == 0x88
    for number in range(3):
        await bench.send(handler_of("loopback"), (number, 0, 0, 0), bytes(64))
    for _ in range(2000):
        await RisingEdge(dut.clk)
        assert not int(dut.ev_patience.value), "a message waits for a bank that is not in use"
    bench.write(CardReg.OWN, 0)
    while await bench.read(CardReg.MESSAGES) != 4:
        pass
    check_end(bench)


WATCHED = ("cpu_ready", "mem_valid", "pci_ad", "pci_frame_n", "pci_irdy_n", "pci_trdy_n", "pci_req_n", "ev_mailbox")
"""Signals that must be equal at every edge of the PCI clock, gated or not."""


async def _watch(dut: Any, clock: Any, names: tuple[str, ...], log: list[tuple[int, ...]]) -> None:
    """Log the index of each edge before which a signal had changed, and all values."""
    index = 0
    before: tuple[int, ...] = ()
    while True:
        await RisingEdge(clock)
        index += 1
        if int(dut.rst.value):  # no signal has a value at first
            continue
        now = tuple(int(dut[name].value) for name in names)
        if now != before:
            log.append((index, *now))
        before = now


async def _everything_with_pauses(bench: CardBench) -> None:
    """Run messages, a swap of images, the mailbox, a held bank, the card's DMA, and a full NIC queue, with pauses."""
    rng, clk = bench.rng, bench.dut.clk
    await forward(bench, "loopback", Forward.REPLY)
    for number in range(4):
        await bench.send(handler_of("loopback"), (number, 0, 0, REPLY_HANDLER), rng.randbytes(rng.choice((0, 9, 200))))
        await bench.result()
        await ClockCycles(clk, rng.choice((0, 1, 2, 3, 90)))
    for command in (Command.PAUSE, Command.RESUME):
        bench.write(CardReg.CONTROL, command)
        await ClockCycles(clk, 60)
        assert await bench.read(CardReg.STATUS) == 0x100 | command
        bench.write(CardReg.STATUS, 0)
    bench.put_image(build(EXAMPLE, FILTERS, None, 300).pack())
    await ClockCycles(clk, 700)
    assert await bench.outcome() == Load.DONE
    bench.begin_fetch(build(EXAMPLE, DIGESTS, 0, 300).pack())
    await ClockCycles(clk, 700)
    await bench.end_fetch()
    assert await bench.outcome() == Load.DONE
    for register, value in ((CardReg.OWN, 4), (CardReg.DMA_SOURCE, 0x8003), (CardReg.DMA_TARGET, 0x203)):
        bench.write(register, value)
    await bench.send(handler_of("loopback"), (0, 0, 0, REPLY_HANDLER), b"patience")
    bench.write(CardReg.DMA_BYTES, 300)
    await ClockCycles(clk, 400)
    assert not await bench.read(CardReg.DMA_BYTES)
    bench.write(CardReg.OWN, 0)
    await bench.result()
    for number in range(7):
        await bench.send(handler_of("loopback"), (number, 0, 0, REPLY_HANDLER), bytes(200))
    await ClockCycles(clk, 2500)
    for _ in range(7):
        await bench.result()


@cocotb.test(timeout_time=60, timeout_unit="ms")
@cocotb.parametrize(fabric_ps=some([7500, 10000]))
async def asleep_or_awake_the_card_does_the_same(dut: Any, fabric_ps: int) -> None:
    bench = CardBench(dut, fabric_ps, cfg_patience=500)
    bench.nic_limit = 0x400
    logs: list[tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = []
    edges = []
    for sleep in (0, 1):
        await bench.reset(sleep)
        logs.append(([], []))
        watches = [
            cocotb.start_soon(_watch(dut, dut.clk, WATCHED, logs[-1][0])),
            cocotb.start_soon(_watch(dut, dut.f_clk, ("tr_take", "tr_give", "tr_key"), logs[-1][1])),
        ]
        await bench.start(DIGESTS)
        await _everything_with_pauses(bench)
        edges.append((int(dut.edges.value), int(dut.f_edges.value)))
        for watch in watches:
            watch.cancel()
        check_end(bench)
    for awake, asleep in zip(*logs, strict=True):
        for one, other in zip(awake, asleep, strict=False):
            assert one == other
        assert len(awake) == len(asleep)
    assert all(few < 0.9 * many for many, few in zip(*edges, strict=True)), f"it hardly slept: {edges}"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_cards_own_dma_brings_any_bytes_of_host_memory_into_a_bank(dut: Any) -> None:
    bench = await begin(dut, FILTERS, cfg_wide=1)
    bench.memory.bytes[0x8000:0x9000] = bench.rng.randbytes(0x1000)
    for source, size in some(((0x8005, 700), (0x8000, 8), (0x8003, 1), (0x8014, 4), (0x8101, 1500))):
        target = 3 * BANK_BYTES + 0x200 + source % 8
        bench.cpu.store(CARD + 3 * BANK_BYTES + 0x200, bytes(16) + bytes(size + 16 & ~7))
        for register, value in (
            (CardReg.DMA_SOURCE, source), (CardReg.DMA_TARGET, target), (CardReg.DMA_BYTES, size),
        ):  # fmt: skip
            bench.write(register, value)
        while await bench.read(CardReg.DMA_BYTES):
            pass
        got = bytearray()
        for at in range(0, size + 16, 8):
            got += await bench.cpu.load(CARD + 3 * BANK_BYTES + 0x200 + at, 8)
        first = source % 8
        assert got[first : first + size] == bench.memory.bytes[source : source + size]
        assert not any(got[:first]) and not any(got[first + size : size + 8])
    check_end(bench)

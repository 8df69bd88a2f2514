"""LANai 4 of the machine, and the firmware on it.

Strategy: the common firmware runs on NICs without chains and doorbells: `echo` at every length, GRIM with random sizes
in both directions, with payloads also fetched by DMA. The firmware's own host DMA must execute control blocks one at a
time in order, chain 0 first. Registers and bits that the chip lacks are rejected by name.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.common.nic import host_dma
from firmware.grim.host import Grim
from firmware.grim.host.errors import GrimError
from pymodels.machine import Machine, MachineError
from pymodels.nics.lanai4.machine import ModelNic4
from pymodels.nics.lanai4.registers import Ebus
from pymodels.registers import Block, Flag, Isr, Reg
from tests.unit.echo.test_echo import open_echo, payload
from tests.unit.grim.grim_bench import Bench

SIZES = (0, 1, 7, 64, 100, 1000, 3999, 4096, 5000, 12345)


class Lanai4Bench(Bench):
    """GRIM on LANai 4."""

    nic = "lanai4"


def lanai4(machine: Machine, node: int) -> ModelNic4:
    """Return the NIC of a node."""
    nic = machine.nic(node)
    assert isinstance(nic, ModelNic4)
    return nic


def test_echo_brings_every_length_back() -> None:
    machine = Machine(2, nic="lanai4")
    here, there = open_echo(machine)

    async def ask() -> None:
        for size in range(0, 65, 3):
            await here.send(1, payload(size))
            assert await here.receive() == (1, payload(size))

    async def answer() -> None:
        for _ in range(0, 65, 3):
            await there.echo()

    machine.finish(ask(), answer())
    assert lanai4(machine, 0).words.transfers == 2 * 22


@pytest.mark.parametrize("inject", [0, 1])
def test_grim_delivers_once_and_in_order_both_ways(inject: int) -> None:
    bench = Lanai4Bench(2, dma_inject=inject)

    async def application(library: Grim, node: int) -> None:
        got: list[bytes] = []

        def take(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        numbers = await bench.publish(library, **{f"take{node}": take})
        assert numbers
        number = await library.resolve_handler(f"take{1 - node}")
        rng = random.Random(node)
        sent = [rng.randbytes(size) for size in SIZES]
        source = library.host.allocate(1 << 14)
        for data in sent:
            source.view[: len(data)] = data
            await library.send(library.get_dest_id(1 - node), number, payload=data)
        await library.wait_for(lambda: len(got) == len(SIZES))
        rng = random.Random(1 - node)
        assert got == [rng.randbytes(size) for size in SIZES]

    bench.run(application)


def test_remote_memory_transfers_only_whole_words() -> None:
    bench = Lanai4Bench(2)

    async def application(library: Grim, node: int) -> None:
        memory = await library.malloc_pinned(4096)
        library.host.store_bytes(library.get_pinned_pa(memory), bytes([node + 1]) * 4096)
        if node == 0:
            with pytest.raises(GrimError, match="moves words"):
                await library.send_memory(library.get_dest_id(1), memory, memory, 101)
            await library.send_memory(library.get_dest_id(1), memory, memory, 100, lock=memory + 2048, value=7)
        else:
            await library.wait_for_lock(memory + 2048, 7)
            held = library.host.load_bytes(library.get_pinned_pa(memory), 108)
            assert held == bytes([1]) * 100 + bytes([2]) * 8

    bench.run(application)


def test_blocks_are_carried_out_one_at_a_time_and_chain_0_first() -> None:
    machine = Machine(2, nic="lanai4")
    nic, host = lanai4(machine, 0), machine.host(0)
    buffer = host.allocate(256)
    at = {0: 0x100, 2: 0x200}
    for chain, base in at.items():
        for index in range(3):
            block, following = base + Block.SIZE * index, base + Block.SIZE * (index + 1)
            nic.store_words(block, (following | Flag.WAKE, 0, 4, 0x400 + 4 * index + chain * 16, 0, buffer.address))
        nic.store(base + 3 * Block.SIZE, Flag.TERMINAL)
    woken: list[int] = []
    dma = host_dma(nic, at)

    def note(chain: int) -> Any:
        async def step() -> None:
            woken.append(chain)

        return step

    services = dma.services({0: note(0), 2: note(2)}, "look")
    assert len(services) == 1, "one bit for the only engine"

    async def firmware() -> None:
        loop = nic.poll_loop([watch for watch, _ in services])
        await dma.pulse(2)
        assert nic.words.busy
        await dma.pulse(0)
        while len(woken) < 6:
            await loop.run()
            await services[0][1]()

    machine.finish(firmware())
    assert woken == [2, 0, 0, 0, 2, 2], "the current block completes first"
    assert all(nic.load(base + Block.SIZE * index) & Flag.TERMINAL for base in at.values() for index in range(3))


def test_a_transfer_in_work_cannot_be_overwritten() -> None:
    machine = Machine(2, nic="lanai4")
    nic, buffer = machine.nic(0), machine.host(0).allocate(64)
    nic.write(Ebus.EAR, buffer.address)
    nic.write(Ebus.DMA_CTR, 64)
    with pytest.raises(MachineError, match="LAR written while a host DMA is in work"):
        nic.write(Ebus.LAR, 0x40)
    machine.run()
    with pytest.raises(MachineError, match="EAR = 0x2 is not a multiple of 4"):
        nic.write(Ebus.EAR, 2)


def test_a_transfer_beyond_the_sram_is_rejected_at_its_start() -> None:
    machine = Machine(2, nic="lanai4")
    nic, buffer = machine.nic(0), machine.host(0).allocate(64)
    nic.write(Ebus.EAR, buffer.address)
    nic.write(Ebus.LAR, nic.sram.size - 32)
    with pytest.raises(MachineError, match="are outside its"):
        nic.write(Ebus.DMA_CTR, 64)


@pytest.mark.parametrize("register", [Reg.PULSE, Reg.IT1, Reg.DOORBELL_PRODUCER0])
def test_registers_that_the_chip_lacks_are_rejected_by_name(register: Reg) -> None:
    nic = Machine(2, nic="lanai4").nic(0)
    with pytest.raises(MachineError, match=f"no register {register.name}"):
        nic.write(register, 1)


def test_rmp_advances_by_words_of_four_and_there_is_no_head() -> None:
    machine = Machine(2, nic="lanai4")
    near, far = machine.nic(0), machine.nic(1)
    near.sram.write(0x100, b"\x81" + bytes(range(1, 12)))
    far.write(Reg.RMP, 0x203)
    far.write(Reg.RML, 0x240)
    near.write(Reg.SMP, 0x100)
    near.write(Reg.SMLT, 0x10C)
    machine.run()
    assert far.special.read(Reg.RMP) == 0x200 + 12
    assert not far.special.isr >> Isr.HEAD & 1 and far.special.isr >> Isr.RECV & 1

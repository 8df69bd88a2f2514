"""Registers of the machine's NICs.

Strategy: registers are written and read through the verbs, as by firmware, and over PCI, as by a host. Each rule of the
fact sheet (write-1-to-clear, the signal bits, timers that count down, doorbells that overflow) has its test. Time is
read in ticks, independent of the model's delays. The interrupt is followed to the interrupt routine.
"""

from __future__ import annotations

import pytest

from firmware.verbs import Watch
from pymodels.machine import Machine, MachineError, Timing
from pymodels.registers import Control, Isr, Pci, Reg
from pymodels.trace import TraceEvent
from tb.tools.paths import ROOT

HOST_SIG, LANAI_SIG = 1 << Isr.HOST_SIG, 1 << Isr.LANAI_SIG


def test_writing_ones_to_isr_clears_these_bits_only() -> None:
    nic = Machine(2).nic(0)
    nic.special.change(0b1111, 0)
    nic.write(Reg.ISR, 0b0101)
    assert nic.special.isr == 0b1010


def test_the_signal_bit_is_set_by_its_own_side_and_cleared_by_the_other() -> None:
    special = Machine(2).nic(0).special
    special.write(Reg.ISR, HOST_SIG)
    special.write_from_host(Reg.ISR, LANAI_SIG)
    assert special.isr == HOST_SIG | LANAI_SIG
    special.write(Reg.ISR, LANAI_SIG)
    special.write_from_host(Reg.ISR, HOST_SIG)
    assert special.isr == 0


def test_rtc_counts_half_microseconds_and_cpuc_clocks() -> None:
    machine = Machine(2)
    machine.run(until_us=100)
    assert machine.finish(machine.nic(0).read(Reg.RTC))[0] == 200
    assert machine.finish(machine.nic(0).read(Reg.CPUC))[0] == machine.kernel.now // 7500


@pytest.mark.parametrize(("timer", "bit"), [(Reg.IT0, Isr.TIME0), (Reg.IT1, Isr.TIME1), (Reg.IT2, Isr.TIME2)])
def test_a_timer_counts_down_and_sets_its_bit_when_it_wraps(timer: Reg, bit: Isr) -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    nic.write(timer, 9)
    machine.run(until_us=4.9)
    assert nic.special.read(timer) == 0 and nic.special.isr == 0
    machine.run(until_us=5.1)
    assert nic.special.read(timer) == 0xFFFFFFFF and nic.special.isr == 1 << bit


def test_the_page_on_verbs_names_the_timers_their_bits_and_their_unit() -> None:
    page = (ROOT / "firmware" / "README.md").read_text(encoding="utf-8")
    verbs = page.partition("\n## Verbs of the NIC\n")[2].partition("\n## ")[0]
    for word in ("IT0, IT1 and IT2", "ticks of 0.5 us", "TIME0", "Reg.IT0"):
        assert word in " ".join(verbs.split())


def test_a_timer_written_again_forgets_the_first_time() -> None:
    machine = Machine(2)
    machine.nic(0).write(Reg.IT0, 3)
    machine.run(until_us=1)
    machine.nic(0).write(Reg.IT0, 99)
    machine.run(until_us=40)
    assert machine.nic(0).special.isr == 0


def test_a_register_that_does_not_exist_is_an_error_with_its_offset() -> None:
    with pytest.raises(MachineError, match="offset 0x0f4"):
        Machine(2).nic(0).write(0xF4, 0)


def test_a_doorbell_appends_address_and_data_and_wakes() -> None:
    machine = Machine(2)
    host, nic = machine.host(0), machine.nic(0)

    async def ring() -> None:
        await host.pio_write(host.nic_base + Pci.POINTERS + 16, (0x4000).to_bytes(4, "big"))
        await host.pio_write(host.nic_base + Pci.DOORBELL + 0x1008, b"\x00\x00\x00\x05")

    machine.finish(ring())
    machine.run()
    assert nic.load_words(0x4000, 2) == (Pci.DOORBELL + 0x1008, 5)
    assert nic.special.isr == 1 << Isr.WAKE0
    assert nic.special.read(Reg.DOORBELL_PRODUCER0) == 1


def test_the_page_selects_one_of_several_doorbell_fifos() -> None:
    nic = Machine(2).nic(0)
    for several, fifo in ((0, 0), (1, 3)):
        nic.card.write(Pci.CONTROL, (several << Control.MULTI_QUEUE).to_bytes(4, "big"))
        before = list(nic.doorbells.producers)
        nic.card.write(Pci.DOORBELL + 0x3008, bytes(4))
        assert [now - then for now, then in zip(nic.doorbells.producers, before, strict=True)] == [
            int(number == fifo) for number in range(len(before))
        ]


def test_a_full_doorbell_fifo_drops_entries_and_reports_the_overflow() -> None:
    bells = Machine(2).nic(0).doorbells
    bells.set_base(0, 0x8000)
    for entry in range(515):
        bells.ring(Pci.DOORBELL, entry)
    assert bells.overflows == 3 and bells.producers[0] == 512
    bells.consumers[0] = 2
    bells.ring(Pci.DOORBELL, 900)
    assert bells.overflows == 3
    assert bells._sram.load(0x8004) == 900, "entry 512 replaces entry 0"


def test_overflow_is_visible_in_isr_and_counter() -> None:
    nic = Machine(2).nic(0)
    for _ in range(513):
        nic.doorbells.ring(Pci.DOORBELL, 0)
    assert nic.special.isr >> Isr.DOORBELL_OVERFLOW & 1
    assert nic.special.read(Reg.DOORBELL_OVERFLOWS) == 1


def test_an_enabled_isr_bit_reaches_the_service_routine_after_the_latency() -> None:
    machine = Machine(2, seed=5)
    host, nic = machine.host(0), machine.nic(0)
    served: list[int] = []

    async def routine() -> None:
        served.append(host.now)
        await host.pio_write(host.nic_base + Pci.REGISTERS + Reg.ISR, HOST_SIG.to_bytes(4, "big"))
        await host.sleep(1_000_000, "the write to arrive")

    host.on_interrupt(routine)
    nic.write(Reg.EIMR, HOST_SIG)
    nic.write(Reg.ISR, HOST_SIG)
    machine.run()
    assert len(served) == 1 and 10_000_000 <= served[0] <= 17_000_001
    assert [record[4] for record in machine.trace.of_event(TraceEvent.INTERRUPT)] == [1, 0]


def test_interrupts_disabled_on_the_card_do_not_reach_the_host() -> None:
    machine = Machine(2)
    machine.nic(0).card.write(Pci.CONTROL, (1 << Control.IRQ_DISABLE).to_bytes(4, "big"))
    machine.nic(0).write(Reg.EIMR, HOST_SIG)
    machine.nic(0).write(Reg.ISR, HOST_SIG)
    assert not machine.trace.of_event(TraceEvent.INTERRUPT)
    machine.nic(0).card.write(Pci.CONTROL, (1 << Control.IRQ_ENABLE).to_bytes(4, "big"))
    assert len(machine.trace.of_event(TraceEvent.INTERRUPT)) == 1


def test_sram_accesses_are_counted_by_requester() -> None:
    machine = Machine(2)
    machine.finish(machine.host(0).pio_write(machine.host(0).nic_base + 4, bytes(16)))
    machine.run()
    machine.nic(0).store(0, 1)
    assert machine.nic(0).sram.accesses == {"pio": 3, "processor": 1}


def test_polling_delay_is_spread_over_one_scan() -> None:
    """A6: arrivals at random times are noticed within one turn of the loop, anywhere in it, never before they came."""
    machine = Machine(2, cost=lambda side, path: 75_000, timing=Timing(pio_latency=0))
    nic, delays = machine.nic(0), list[int]()
    loop = nic.poll_loop([Watch(4 * i, 0, "look") for i in range(10)])

    async def firmware() -> None:
        for turn in range(200):
            store_at = nic.now + 1_000_000 + turn * 7_919 * 2
            machine.kernel.at(store_at, lambda: nic.sram.store(20, 1))
            assert await loop.run() == 5
            delays.append(nic.now - (store_at | 1))
            nic.store(20, 0)

    machine.finish(firmware())
    assert 0 <= min(delays) < 50_000 and 700_000 < max(delays) <= 750_000
    assert 340_000 < sum(delays) / len(delays) < 410_000


def test_polling_continues_with_the_step_after_the_hit() -> None:
    machine = Machine(2)
    nic, hits = machine.nic(0), list[int]()
    loop = nic.poll_loop([Watch(4 * i, 0, "look") for i in range(4)])
    nic.store_words(0, (1, 1, 1, 1))

    async def firmware() -> None:
        for start in (None, None, None, None, None, 2):
            hits.append(await loop.run(start))

    machine.finish(firmware())
    assert hits == [0, 1, 2, 3, 0, 2]


@pytest.mark.parametrize(("start", "looks"), [(0, 3), (1, 2), (2, 1), (3, 4)])
def test_hit_costs_the_polls_from_the_first_step_to_it(start: int, looks: int) -> None:
    machine = Machine(2)
    machine.nic(0).store(8, 1)
    loop = machine.nic(0).poll_loop([Watch(4 * i, 0, "look") for i in range(4)])
    assert machine.finish(loop.run(start)) == [2]
    assert machine.kernel.now == looks * 100_000 + 1


def test_word_changed_back_before_its_poll_is_missed() -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    loop = nic.poll_loop([Watch(0, 0, "look"), Watch(4, 0, "look")])
    machine.kernel.at(1_210_000, lambda: nic.sram.store(0, 1))
    machine.kernel.at(1_230_000, lambda: nic.sram.store(0, 0))
    machine.kernel.at(1_910_000, lambda: nic.sram.store(4, 1))
    assert machine.finish(loop.run()) == [1]
    assert machine.kernel.now == 2_000_001


def test_only_isr_can_be_polled_among_the_registers() -> None:
    nic = Machine(2).nic(0)
    nic.poll_loop([Watch(Reg.ISR, 0, "look", register=True)])
    with pytest.raises(MachineError, match="register 0x0e0 cannot be polled"):
        nic.poll_loop([Watch(Reg.RMP, 0, "look", register=True)])


def test_the_value_a_step_expects_can_change() -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    loop = nic.poll_loop([Watch(0, 0, "look", mask=0xFF)])
    nic.store(0, 0x1207)
    loop.expect(0, 7)
    machine.kernel.at(5_000_000, lambda: nic.sram.store(0, 0x1208))
    assert machine.finish(loop.run()) == [0]
    assert machine.kernel.now >= 5_000_000

"""Driver of the FIFO card, on the machine's model of the card.

Strategy: two and four hosts of the machine with FIFO cards, in both forms. Messages of many lengths must arrive once,
in order and unchanged, also while the receiver does not receive. Accesses that the card flags must raise. The driver
rejects other cards, and more nodes than the card's memory holds.
"""

from __future__ import annotations

import random

import pytest

from firmware.fifo.host import MOST, NODES, check_options, open_layer
from firmware.fifo.host.buffers import EACH, Buffers
from firmware.fifo.host.cells import Cells
from firmware.layers import has_program, names
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.errors import SanlabError
from pymodels.hardware.discover import nic_kind
from pymodels.machine import Machine, MachineError
from pymodels.nics.fifo.registers import Region, Size, State, Status, descriptor
from pymodels.profiles import load_profile
from pymodels.trace import TraceEvent
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.tools.paths import SIMULATORS

FORMS = ("buffers", "cells")
SIZES = (0, 1, 3, 4, 43, 44, 45, 88, 89, 500, 2024)


def started(form: str, nodes: int = 2, trace: bool = False) -> tuple[Machine, list[Buffers | Cells]]:
    """Return a machine and the drivers of its hosts."""
    machine = Machine(nodes, nic="fifo", trace=trace)
    drivers = [open_layer(host, ClusterView(**machine.view(vnn, form=form))) for vnn, host in enumerate(machine.hosts)]
    machine.finish(*[driver.start() for driver in drivers])
    return machine, drivers


async def take(driver: Buffers | Cells, count: int) -> list[tuple[int, bytes]]:
    """Receive `count` messages."""
    return [await driver.receive() for _ in range(count)]


async def give(driver: Buffers | Cells, destination: int, messages: list[bytes]) -> None:
    """Send messages to one destination."""
    for message in messages:
        await driver.send(destination, message)


@pytest.mark.parametrize("form", FORMS)
def test_messages_arrive_once_in_order_and_unharmed_both_ways_at_once(form: str) -> None:
    machine, drivers = started(form)
    rng = random.Random(form)
    sent = [[rng.randbytes(size) for size in (*SIZES, *SIZES)] for _ in range(2)]
    gives = [give(drivers[me], 1 - me, sent[me]) for me in range(2)]
    _, _, *taken = machine.finish(*gives, *[take(driver, len(sent[0])) for driver in drivers])
    assert taken == [[(1, message) for message in sent[1]], [(0, message) for message in sent[0]]]


@pytest.mark.parametrize("form", FORMS)
def test_no_message_is_lost_while_the_receiver_does_not_receive(form: str) -> None:
    machine, drivers = started(form)
    sent = [bytes([number]) * 400 for number in range(40)]
    giving = machine.kernel.spawn(give(drivers[0], 1, sent), "sender")
    machine.run(20_000)
    assert not giving.finished.done, "more than the card and the network hold"
    _, taken = machine.finish(giving, take(drivers[1], len(sent)))
    assert taken == [(0, message) for message in sent]


def test_the_pool_holds_all_messages_that_the_partners_may_have_outstanding() -> None:
    """Paper 002: 24 buffers for 4 nodes; the 25th packet waits in the network."""
    machine, drivers = started("buffers", nodes=4)
    assert [driver.pool for driver in drivers if isinstance(driver, Buffers)] == [24] * 4
    machine.finish(*[give(driver, 0, [b"12345678"] * EACH) for driver in drivers[1:]])
    machine.run(10_000)
    assert machine.network.in_flight() == 0
    assert machine.finish(drivers[0].arrived()) == [24]
    machine.finish(drivers[1].send(0, b"one more"))
    machine.run(20_000)
    assert machine.network.in_flight() == 1
    taken = machine.finish(take(drivers[0], 25))[0]
    assert sorted(taken) == sorted([(vnn, b"12345678") for vnn in (1, 2, 3)] * EACH + [(1, b"one more")])


@pytest.mark.parametrize("form", FORMS)
def test_messages_of_several_senders_are_not_mixed(form: str) -> None:
    machine, drivers = started(form, nodes=4)
    sent = {vnn: [bytes([vnn]) * size for size in SIZES] for vnn in (1, 2, 3)}
    gives = [give(drivers[vnn], 0, messages) for vnn, messages in sent.items()]
    taken = machine.finish(*gives, take(drivers[0], 3 * len(SIZES)))[-1]
    assert {vnn: [message for source, message in taken if source == vnn] for vnn in sent} == sent


@pytest.mark.parametrize("form", FORMS)
def test_an_invalid_message_is_rejected(form: str) -> None:
    machine, drivers = started(form)
    for destination, size in ((0, 1), (2, 1), (1, MOST[form] + 1)):
        with pytest.raises(ValueError, match=f"destination {destination}"):
            machine.finish(drivers[0].send(destination, bytes(size)))


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        ([(Region.TX_READY, 0)], "buffer 0 does not exist"),
        ([(Region.TX_READY, 3)], "the descriptor of buffer 3"),
        ([(Region.RX_FREE, 128)], "buffer 128 does not exist"),
        ([(Region.RX_FREE, 1), (Region.RX_FREE, 1)], "buffer 1 is in the pool"),
        ([(Region.RX_NEXT, 0)], "RX_NEXT or CELL_NEXT without a received packet"),
        ([(Region.MODE, 1), (Region.CELL_OUT + 4, 0), (Region.CELL_OUT + 52, 0), (Region.MODE, 0)], "not empty"),
        ([(Region.MODE, 1), (Region.TX_READY, 1)], "need a card with buffers"),
        ([(Region.MODE, 1), (Region.CELL_OUT + 8, 0)], "begins with its header"),
        ([(Region.CELL_OUT + 4, 0)], "no word to write"),
        ([(Region.STATUS, 0)], "no word to write"),
    ],
)
def test_writes_that_the_card_flags_are_errors_of_the_machine(writes: list[tuple[int, int]], said: str) -> None:
    card = Machine(2, nic="fifo").nics[0].card
    *before, (last, word) = writes
    for place, value in before:
        card.write(place, value.to_bytes(4, "big"))
    with pytest.raises(MachineError, match=said):
        card.write(last, word.to_bytes(4, "big"))


def test_the_state_of_a_sent_buffer_is_sent() -> None:
    machine = Machine(2, nic="fifo")
    card, other = (nic.card for nic in machine.nics)
    other.write(Region.RX_FREE, (5).to_bytes(4, "big"))
    card.write(Size.BUFFER, machine.view(0)["routes"][1].ljust(8, b"\0"))
    card.write(Size.DESCRIPTOR, descriptor(State.READY, 8, own=9).to_bytes(4, "big"))
    card.write(Region.TX_READY, (1).to_bytes(4, "big"))
    assert card.read(Region.STATUS) == 1 << Status.SEND_LEVEL
    machine.run(1000)
    assert card.read(Size.DESCRIPTOR) == descriptor(State.SENT, 8, own=9)
    assert other.read(Region.RX_READY) == 1 << 31 | 5 << 16 | 7


def test_an_enabled_interrupt_stays_raised_while_messages_are_waiting() -> None:
    machine, drivers = started("buffers")
    lines: list[bool] = []
    card = machine.nics[1].card
    card.interrupt = lines.append
    card.write(Region.INTERRUPT, (1).to_bytes(4, "big"))
    machine.finish(drivers[0].send(1, b"word"), take(drivers[1], 1))
    machine.run(10_000)
    assert lines[0] is False and True in lines and lines[-1] is False


def test_the_layer_has_no_firmware_and_runs_on_a_fifo_card_only() -> None:
    assert "fifo" in names() and not has_program("fifo")
    card = nic_kind("fifo").card(Size.MEMORY)
    check_options({}, NODES["buffers"], Size.MEMORY, card)
    check_options({"form": "cells"}, NODES["cells"], Size.MEMORY, card)
    with pytest.raises(OptionError, match="9 nodes"):
        check_options({}, NODES["buffers"] + 1, Size.MEMORY, card)
    for profile in ("lanai9", "lanai4", "sp"):
        kind = load_profile(profile).nic
        with pytest.raises(OptionError, match="drives a FIFO card"):
            check_options({}, 2, 1 << 20, kind.card(1 << 20))


@pytest.mark.parametrize(
    ("study", "profile", "said"),
    [
        ("fifo_pingpong", "lanai9", "it drives a FIFO card, and the profile has another NIC; use PROFILE=fifo"),
        ("echo_pingpong", "fifo", "choose a profile whose NIC it supports, PROFILE=lanai4 or lanai4-now or lanai9"),
    ],
)
def test_a_layer_on_an_unsupported_card_is_rejected_before_any_build(study: str, profile: str, said: str) -> None:
    request = resolve(study, "verilator", "1", False, "", profile, "", SIMULATORS)
    with pytest.raises(SanlabError) as refused:
        plan(request, studies.load(study))
    assert said in str(refused.value) and refused.value.exit_code == 2


@pytest.mark.parametrize("restarted", [(0, 1), (0,), (1,)])
@pytest.mark.parametrize("form", FORMS)
def test_messages_keep_their_numbers_when_drivers_restart(form: str, restarted: tuple[int, ...]) -> None:
    machine, drivers = started(form, trace=True)
    first, second = [bytes(100), b"", bytes(45)], [b"1", bytes(300)]
    machine.finish(give(drivers[0], 1, first), take(drivers[1], len(first)))
    for vnn in restarted:
        drivers[vnn] = open_layer(machine.hosts[vnn], ClusterView(**machine.view(vnn, form=form)))
    machine.finish(*[drivers[vnn].start() for vnn in restarted])
    machine.finish(give(drivers[0], 1, second), take(drivers[1], len(second)))
    called, taken = (
        [number for _, _, event, *_, number in machine.trace.records if event == wanted]
        for wanted in (TraceEvent.SEND_CALL, TraceEvent.HANDLER_START)
    )
    assert taken == called and len(set(called)) == len(first + second)

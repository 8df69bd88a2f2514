"""Loss of power of a card, as its NI handles it: transfers that end with a Master Abort.

Strategy: the far node has a card with memory, which stops to answer at a chosen access. Messages, remote writes and
reads to it must be errors at the sender. The card's host gets one report, and no queue may stay blocked.
After a restart the rings begin at offset 0 and messages are accepted again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from unittest.mock import patch

import pytest

from firmware.grim.formats import HEADER_BYTES
from firmware.grim.host import GrimError
from firmware.grim.host.card_restart import LOST, CardRestart
from firmware.grim.host.errors import CardPowerError
from firmware.grim.host.handlers import CARD_ERROR
from firmware.grim.nic.cards import BACKS, CARD, MISSES
from firmware.grim.nic.layout import Register
from pymodels.card.registers import BANK_BYTES, REGISTERS
from pymodels.host import UnansweredError
from pymodels.machine.host_dma import MasterAbort
from tests.unit.grim.grim_card_bench import FAR, CardBench

HANDLER, BEGIN, SIZE = 77, 3 * BANK_BYTES, 8192
TOLD = "the card of VNN 1 has no power, or has not been started again"
OWN = "the card of VNN 1 does not answer: it has no power"


class Supply:
    """Supply of the card: after so many accesses of the NIC's DMA, none is answered."""

    def __init__(self, card: CardBench, accesses: int) -> None:
        self._window, self.left = card.window, accesses
        self._read, self._write = card.window.read, card.window.write
        card.window.read, card.window.write = self.read, self.write  # type: ignore[method-assign]

    def read(self, address: int, size: int) -> bytes:
        """Read, if the address is the host's or the card has power."""
        self._check(address)
        return self._read(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Write, if the address is the host's or the card has power."""
        self._check(address)
        self._write(address, data)

    def _check(self, address: int) -> None:
        if address >= CARD:
            if not self.left:
                raise MasterAbort
            self.left -= 1


@pytest.fixture(name="card")
def fixture_card() -> CardBench:
    """Return a card whose circuit has a handler number."""
    made = CardBench(segment_bytes=256)
    made.near.handlers.names[HANDLER] = "loopback"
    return made


async def errors_of(library: Any, wait_us: int = 400) -> list[str]:
    """Return the texts of all errors that a library gets within some time."""
    found = []
    for _ in range(wait_us // 10):
        try:
            await library.poll()
        except GrimError as error:
            found.append(str(error))
        await library.host.sleep(10_000_000)
    return found


async def caught(call: Awaitable[None]) -> list[str]:
    """Await a call and return the text of the error of an earlier one that it raises."""
    try:
        await call
    except GrimError as error:
        return [str(error)]
    return []


def send(card: CardBench) -> Awaitable[None]:
    """Send a message of one segment."""
    return card.near.send(FAR, HANDLER, 1, 2, 3, 4, bytes(64))


OPERATIONS: dict[str, Callable[[CardBench, int], Awaitable[None]]] = {
    "message": lambda card, block: send(card),
    "long message": lambda card, block: card.near.send(FAR, HANDLER, payload=bytes(2000)),
    "remote write": lambda card, block: card.near.send_memory(FAR, BEGIN, block, SIZE),
    "physical remote write": lambda card, block: card.near.send_physical_memory(FAR, CARD + BEGIN, block, SIZE),
    "remote read": lambda card, block: card.near.fetch_memory(FAR, block, BEGIN, SIZE),
}


@pytest.mark.parametrize("accesses", [0, 1, 2, 5])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_on_a_card_that_loses_power_is_an_error_and_the_hosts_continue(
    card: CardBench, operation: str, accesses: int
) -> None:
    supply = Supply(card, 1 << 30)

    async def application() -> tuple[list[str], list[str]]:
        block = await card.source(bytes(SIZE))
        await card.driver.open_window(BEGIN, SIZE)
        supply.left = accesses
        near = []
        for _ in range(3):
            near += await caught(OPERATIONS[operation](card, block))
        near += await errors_of(card.near)
        await OPERATIONS[operation](card, block)  # the NI knows
        last = await errors_of(card.near)
        assert last, "a later operation fails"
        return near + last, await errors_of(card.far)

    near, far = card.run(application)
    assert near and all(TOLD in error for error in near)
    assert sum(OWN in error for error in far) == 1 == len(far)
    assert card.bench.nothing_left()


def test_full_card_without_power_is_noticed_after_some_rejected_messages(card: CardBench) -> None:
    supply = Supply(card, 1 << 30)

    async def application() -> list[str]:
        with patch("firmware.grim.nic.cards.fits", lambda *given: supply.left > 0):
            supply.left = 0
            await send(card)
            return await errors_of(card.near, 200 * MISSES)

    found = card.run(application)
    assert len(found) == 1 and TOLD in found[0]


def test_card_that_was_started_again_takes_messages_from_offset_0(card: CardBench) -> None:
    supply = Supply(card, 1 << 30)

    async def application() -> tuple[list[str], list[tuple[int, int]]]:
        supply.left = 4
        for _ in range(5):
            await caught(send(card))
        await errors_of(card.near)
        await errors_of(card.far)
        supply.left = 1 << 30
        assert TOLD in (await errors_of_call(card, send(card)))
        driver = card.driver
        restart = CardRestart(card.far.host, card.far.layout, card.bench.views[1], 1, driver._windows)
        await restart.prepare()
        await restart.finish()
        card.window.order.clear()
        await send(card)
        return await errors_of(card.near), list(card.window.order)

    found, order = card.run(application)
    assert not found
    assert order[0] == (0, HEADER_BYTES + 64), "the first ring, at its start"


def test_ni_that_has_not_noticed_the_loss_writes_nothing_while_the_card_is_started_again(card: CardBench) -> None:
    backs = [CARD + REGISTERS + one for one in BACKS]

    async def application() -> tuple[list[str], list[tuple[int, int]]]:
        await send(card)  # the card loses it with its power, and its ring pointers too
        await card.near.host.sleep(100_000_000)
        card.window.order.clear()
        learn, refused = card.driver.learn, []

        async def while_starting(numbers: Mapping[str, int]) -> None:
            assert [card.values.get(address) for address in backs] == [0, 0]
            refused.append(await errors_of_call(card, send(card)))
            assert not card.touched()
            await learn(numbers)

        with patch.object(card.driver, "learn", while_starting):
            await card.driver.restart()
        assert len(refused) == 1 and TOLD in refused[0]
        await send(card)
        return await errors_of(card.near), list(card.window.order)

    found, order = card.run(application)
    assert not found
    assert order[0] == (0, HEADER_BYTES + 64), "the first ring, at its start"


@pytest.mark.parametrize("doorbell_notify", [0, 1])
def test_restart_ends_an_unfinished_result_at_every_endpoint_once(doorbell_notify: int) -> None:
    card = CardBench(segment_bytes=256, doorbell_notify=doorbell_notify)
    ended: list[int] = []

    async def application() -> None:
        card.near.handlers.functions[CARD_ERROR] = lambda source, a0, *rest: ended.append(a0)
        restart = CardRestart(card.far.host, card.far.layout, card.bench.views[1], 1, card.driver._windows)
        task = card.bench.machine.kernel.spawn(restart.prepare(), "the restart")
        while not task.finished.done:
            await card.near.host.sleep(10_000_000)
        await restart.finish()
        await card.near.host.sleep(100_000_000)
        await card.near.poll()

    card.run(application)
    assert ended == [LOST] * 2, "both channels of the near node; the machine has no route from a NIC to itself"


async def errors_of_call(card: CardBench, call: Awaitable[None]) -> str:
    """Return the text of the error that a call causes."""
    await call
    return " ".join(await errors_of(card.near))


def test_register_read_without_an_answer_names_the_card(card: CardBench) -> None:
    async def unanswered(address: int) -> int:
        raise UnansweredError("host", address)

    async def application() -> None:
        with patch.object(card.far.host, "pio_read", unanswered), pytest.raises(CardPowerError, match="VNN 1"):
            await card.driver.slots()

    card.run(application)


def test_restart_is_refused_while_the_cards_last_messages_are_unacknowledged(card: CardBench) -> None:
    async def application() -> None:
        host, layout = card.far.host, card.far.layout
        real = host.pio_read

        async def read(address: int) -> int:
            at = host.nic_base + layout.register(1, Register.BACK)
            return 64 if address == at else await real(address)

        with patch.object(host, "pio_read", read), pytest.raises(GrimError, match="timed out"):
            await CardRestart(host, layout, card.bench.views[1], 1, card.driver._windows).prepare()

    card.run(application)

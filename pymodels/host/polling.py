"""Polling of a card's word by a program: each look is a read over the bus.

A turn of the loop is the read, followed by a compiled path that compares the word and branches back. It consists of
single `pio_read` and `spend` calls. Reads therefore compete with all other traffic on the bus and in the card's memory,
and interrupt routines and signals can run in between.
"""

from __future__ import annotations

from typing import Any

from pymodels.cards import slot
from pymodels.errors import SanlabError
from pymodels.host.ahead import Repeats, Turns
from pymodels.kernel import FOREVER

ALL = 0xFFFFFFFF
"""Mask of all bits of a word."""


class CardPollError(SanlabError):
    """Invalid arguments of `poll_card`."""


class UnansweredError(SanlabError):
    """Read over the bus that no card answers; hardware would return ones."""

    def __init__(self, who: str, address: int) -> None:
        cause = f"no card answers at {address:#x} of the bus"
        super().__init__(f"{who}: pio_read({address:#x})", cause, "read a word of an existing card")


class PollsCards:
    """Mixin with `poll_card` for hosts and processes."""

    who: str
    slots: frozenset[int] = frozenset((0,))
    """Slots of the host's bus with a card: that of the NIC, and those of further cards."""

    around: Repeats | None = None
    """Hardware around the host's loops, if turns can be computed."""

    async def stand(self, until: int, why: str) -> None:
        """Hold the CPU until a time, possibly FOREVER, before which only computed turns happen."""

    def _on_bus(self, address: int, call: str) -> int:
        """Return the bus address of a word to be read. Raises an error if the access is not allowed."""
        return address

    async def _missed(self) -> None:
        """Handle a turn of the loop without a hit."""

    def _check_poll(self, address: int, mask: int, timeout_ns: float) -> None:
        call = f"poll_card({address:#x})"
        where = f"{self.who}: {call}"
        if address % 4:
            raise CardPollError(where, "a card is read in whole words", "give a multiple of 4")
        if not mask & ALL:
            raise CardPollError(where, f"mask {mask:#x} has no bit of a word", "name a bit to wait for")
        if not timeout_ns >= 0:
            cause, remedy = f"a limit of {timeout_ns} ns is negative", "give ns from 0 on; 0: no limit"
            raise CardPollError(where, cause, remedy)
        on_bus = self._on_bus(address, call)
        if slot(on_bus) not in self.slots:
            raise CardPollError(where, f"no card answers at {on_bus:#x} of the bus", "poll a word of an existing card")

    async def poll_card(self: Any, address: int, expect: int, path: str, mask: int = ALL, timeout_ns: float = 0) -> int:
        """Poll a word of a card over the bus until it differs, and return the last value.

        Args:
            address: Address of the word.
            expect: Value with which the loop continues.
            path: Compiled path executed after each read.
            mask: Bits that are compared.
            timeout_ns: Time after which the end of a turn ends the loop; 0 = no limit.

        Raises:
            CardPollError: The arguments are invalid, or no card answers.
            ProtectionFault: The process may not read the word.
        """
        self._check_poll(address, mask, timeout_ns)
        kernel = self._kernel
        last = kernel.now + round(timeout_ns * 1000)
        turns = self.around and Turns(self.around)
        while True:
            if turns and (begin := turns.ahead(kernel.now, last if timeout_ns else FOREVER)) > kernel.now:
                await self.stand(begin, f"the word at {address:#x}, which it polls, to change from {expect:#x}")
            word: int
            try:
                if turns and not timeout_ns and turns.disturbed:
                    word, spent = await self.repeat(address, expect, path, mask)
                else:
                    word, spent = await self.pio_read(address), False
            except UnansweredError as error:
                remedy = "poll a word of an existing card"
                raise CardPollError(f"{self.who}: poll_card({address:#x})", error.cause, remedy) from None
            if not spent:
                await self.spend(path)
            if (word ^ expect) & mask & ALL or (timeout_ns and kernel.now >= last):
                return word
            await self._missed()

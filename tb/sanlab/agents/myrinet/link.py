"""Link of a design: one character in each direction at each clock edge, shared by source, sink and monitors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import cocotb
from cocotb.triggers import RisingEdge

from pymodels.link.characters import Symbol
from tb.agents.wires import require

from .errors import LinkError


class Sender(Protocol):
    """Agent that sends characters to the design."""

    def offer(self) -> int | None:
        """Return the character to send now, or None."""


class Link:
    """Both directions of a link, as a design has them: `rx` into it and `tx` out of it, {data flag, byte}.

    Use `from_prefix`. Agents start the link with their clock and reset; all agents of a link have the same.

    Attributes:
        clocks: Number of clock edges outside of reset.
    """

    def __init__(self, rx: Any, tx: Any) -> None:
        self.clocks = 0
        self.hooks: list[Callable[[int, int], None]] = []
        """Functions called at each clock edge with the characters on `rx` and `tx`."""
        self.resets: list[Callable[[], None]] = []
        """Functions called when the reset is asserted."""
        self.sink: Sender | None = None
        """Agent whose STOP and GO go before other characters."""
        self.source: Sender | None = None
        self._rx, self._tx = rx, tx
        self._clock: tuple[Any, Any, bool] | None = None

    @classmethod
    def from_prefix(cls, entity: Any, prefix: str = "") -> Link:
        """Return the link on the wires `<prefix>_rx` and `<prefix>_tx` of an entity, 9 bits each.

        Raises:
            MissingWiresError: A wire is missing; the message names it.
            LinkError: A wire has not 9 bits.
        """
        wires = require(entity, prefix, ("rx", "tx"))
        for name, handle in wires.items():
            if len(handle) != 9:
                raise LinkError(f"{entity._name}.{name}", f"{len(handle)} bits", "a link has 9: {data flag, byte}")
        return cls(wires["rx"], wires["tx"])

    def start(self, clock: Any, reset: Any, active_level: bool) -> None:
        """Start sampling. Raises LinkError if another agent has given another clock or reset."""
        given = clock, reset, active_level
        if self._clock is None:
            self._clock = given
            self._rx.value = int(Symbol.IDLE)
            cocotb.start_soon(self._run(clock, reset, active_level))
        elif self._clock != given:
            raise LinkError("link", "agents have different clocks or resets", "give all agents of a link the same")

    async def _run(self, clock: Any, reset: Any, active_level: bool) -> None:
        rising = RisingEdge(clock)
        shown = int(Symbol.IDLE)
        resetting = True
        while True:
            await rising
            before, resetting = resetting, reset is not None and int(reset.value) == active_level
            if resetting:
                for forget in self.resets if not before else ():
                    forget()
                following = int(Symbol.IDLE)
            else:
                self.clocks += 1
                tx = int(self._tx.value)
                for hook in self.hooks:
                    hook(shown, tx)
                following = self._next()
            if following != shown:
                shown = following
                self._rx.value = shown

    def _next(self) -> int:
        """Return the character that the agents send now: STOP and GO of the sink first."""
        for agent in (self.sink, self.source):
            character = agent.offer() if agent is not None else None
            if character is not None:
                return character
        return int(Symbol.IDLE)

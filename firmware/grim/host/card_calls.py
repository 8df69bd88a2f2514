"""Cards as endpoints: circuits found by name, results forwarded, errors reported (papers 000, 4.3; 003, C.3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from firmware.grim.formats import Device, endpoint, reference
from firmware.grim.host.arguments import text, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import CARD_CONTROL, CARD_ERROR, Handler, Handlers
from firmware.grim.host.messages import Messages
from firmware.grim.host.nodes import Nodes
from pymodels.card.fabric import Circuit, names
from pymodels.card.registers import CardError, Forward, entry
from pymodels.errors import nearest


class Cards:
    """Messages to FPGA cards, of this host and of others."""

    def __init__(
        self, circuits: Sequence[Circuit], nodes: Nodes, calls: Calls, messages: Messages, handlers: Handlers
    ) -> None:
        self._circuits = names(circuits)
        self._nodes, self._calls, self._messages, self._handlers = nodes, calls, messages, handlers

    async def forward(self, card: int, circuit: str, mode: Forward, target: int = 0, handler: int = 0) -> None:
        """Say where the results of a circuit of `card` go: nowhere, to `handler` of endpoint `target`, or back.

        Returns when the message is on its way; it takes effect in the order of messages to that card. GrimError.
        """
        self._calls.ready()
        if text("circuit", circuit) not in self._circuits:
            remedy = nearest(circuit, self._circuits)
            raise GrimError("circuit", f"no line of the circuit file names {circuit!r}", remedy)
        if mode not in tuple(Forward):
            raise GrimError("mode", f"{mode!r} is no way of forwarding", "take one of Forward")
        kind = reference(word("card", card)).device
        if kind != Device.CELOXICA:
            cause = f"{card:#x} is an endpoint of device type {kind}, which has no circuits"
            raise GrimError("card", cause, "take the reference of an FPGA card")
        end, channel = 0, 0
        if mode == Forward.ENDPOINT:
            self._handlers.check(handler)
            parts = self._nodes.endpoint(target, "target")
            end, channel = endpoint(parts.vnn, parts.device), parts.channel
        place, number = entry(mode, end, channel, handler)
        await self._messages.tell(card, CARD_CONTROL, self._circuits.index(circuit), place, number, 0)

    def built_in(self) -> dict[int, Handler]:
        """The handler that every node has for errors at cards."""
        return {CARD_ERROR: self._card_error}

    def _card_error(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """A card had a message for a handler that is no circuit of its images, or an entry for such a number."""
        where = f"the FPGA card of node {reference(source).vnn}"
        if a0 == CardError.UNKNOWN_ENTRY:
            cause, remedy = f"{where} has no circuit of number {a1}", f"give 0 to {len(self._circuits) - 1}"
            self._calls.errors.append(GrimError("forwarding entry", cause, remedy))
            return
        name = self._handlers.names.get(a1, str(a1))
        self._calls.errors.append(
            GrimError("handler", f"{name!r} is no circuit of {where}", nearest(name, self._circuits))
        )

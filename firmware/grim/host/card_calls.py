"""Calls for FPGA cards: forwarding of a circuit's results, and cards' errors (papers 000, 4.3; 003, C.3.1)."""

from __future__ import annotations

from firmware.grim.formats import Device, endpoint, reference
from firmware.grim.formats.iocard import SERVICE
from firmware.grim.host.arguments import text, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.card_restart import LOST
from firmware.grim.host.errors import LIMIT_REMEDY, GrimError
from firmware.grim.host.handlers import CARD_CONTROL, CARD_ERROR, Handler, Handlers
from firmware.grim.host.messages import Messages
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.tree_calls import Multicast
from pymodels.card.registers import CardError, Forward, entry
from pymodels.config.model import IO_CARD
from pymodels.errors import nearest


class CardErrors:
    """Errors of the cluster's cards at one endpoint: a host, or one of its processes."""

    def __init__(self, nodes: Nodes, calls: Calls, handlers: Handlers) -> None:
        self._nodes, self._calls, self._handlers = nodes, calls, handlers
        self._circuits = nodes.circuits

    def built_in(self) -> dict[int, Handler]:
        """Return the built-in handler of errors at cards."""
        return {CARD_ERROR: self._card_error}

    def _card_error(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Record the error of a card: an unknown handler number or forwarding entry, or a message that is too long."""
        vnn = reference(source).vnn
        io = self._nodes.has_card(vnn, (IO_CARD,))
        where = f"the {'I/O' if io else 'FPGA'} card of node {vnn}"
        if a0 == LOST:
            if payload:
                cause = f"{len(payload)} bytes of a result of {where}, which has lost its power"
                self._calls.errors.append(GrimError("message", cause, "repeat what the card should do"))
            return
        if a0 == CardError.UNKNOWN_ENTRY:
            cause, remedy = f"{where} has no circuit {a1}", f"give 0 to {len(self._circuits) - 1}"
            self._calls.errors.append(GrimError("forwarding entry", cause, remedy))
            return
        name = self._handlers.names.get(a1, str(a1))
        if a0 == CardError.TOO_LONG:
            cause = f"{a2} bytes or more, but circuit {name!r} of {where} accepts at most {a3}"
            self._calls.errors.append(GrimError("payload", cause, LIMIT_REMEDY))
            return
        self._calls.errors.append(
            GrimError(
                "handler",
                f"{name!r} is not a {'service' if io else 'circuit'} of {where}",
                nearest(name, (SERVICE,) if io else self._circuits),
            )
        )


class Cards:
    """Control of the cluster's FPGA cards from one host."""

    def __init__(
        self,
        nodes: Nodes,
        calls: Calls,
        messages: Messages,
        handlers: Handlers,
        trees: Multicast,
    ) -> None:
        self._circuits, self._trees = nodes.circuits, trees
        self.errors = CardErrors(nodes, calls, handlers)
        self._nodes, self._calls, self._messages, self._handlers = nodes, calls, messages, handlers

    async def forward(self, card: int, circuit: str, mode: Forward, target: int = 0, handler: int = 0) -> None:
        """Set the destination of a circuit's results.

        Returns when the message has been sent; the setting takes effect in the order of messages to that card.

        Args:
            card: Reference of the card's endpoint.
            circuit: Name of the circuit.
            mode: Discard the results, send them to `handler` of endpoint or tree `target`, send them back, write them
                into the memory of `target`, or read memory of `target` as they say (`Forward`).
            target: Reference of the endpoint for the results or of the memory, or number of the multicast tree.
            handler: Number of its handler; not with memory.

        Raises:
            GrimError: An argument is invalid.
        """
        self._calls.ready()
        if text("circuit", circuit) not in self._circuits:
            remedy = nearest(circuit, self._circuits)
            raise GrimError("circuit", f"{circuit!r} is not in the circuit file", remedy)
        if mode not in tuple(Forward):
            raise GrimError("mode", f"{mode!r} is not a forwarding mode", "use a member of Forward")
        kind = reference(word("card", card)).device
        if kind != Device.CELOXICA:
            cause = f"{card:#x} is an endpoint of device type {kind}, which has no circuits"
            raise GrimError("card", cause, "use the reference of an FPGA card")
        end, channel, tree = 0, 0, 0
        if mode in (Forward.ENDPOINT, Forward.WRITE, Forward.FETCH):
            if mode == Forward.ENDPOINT:
                self._handlers.check(handler)
            else:
                handler = 0
            parts = self._nodes.endpoint(target, "target")
            end, channel = endpoint(parts.vnn, parts.device), parts.channel
        elif mode == Forward.TREE:
            self._handlers.check(handler)
            end, channel = self._trees.place(target)
            tree = target
        place, number = entry(mode, end, channel, handler, tree)
        await self._messages.send_internal(card, CARD_CONTROL, self._circuits.index(circuit), place, number, 0)

"""VIA messages and their guarantees: each descriptor ends once, in order, with the bytes that were sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from firmware.via.formats import Kind, Reliability, Status, parse

RECEIVED = Status.DONE | Status.RECEIVE


class Message(NamedTuple):
    """Content of one descriptor of a sender."""

    source: int
    segments: int = 1
    """Number of segments, each in a separate packet."""
    writes: bool = False
    """True for an RDMA write, which consumes no receive."""


Traffic = tuple[Message, ...]
"""Messages of all hosts, in the order in which each host posts its own."""


def body(message: Message, number: int) -> bytes:
    """Return the bytes of a message."""
    return bytes((message.source + 1, number + 1, 7, 9)) * message.segments


@dataclass(frozen=True)
class Rules:
    """Promises of a world with these messages."""

    traffic: Traffic
    level: Reliability
    breaks: bool
    """True if a packet may be lost or late."""
    notices: bool
    """True if both ends are notified of a broken connection; otherwise one of them may wait for ever."""

    @property
    def reliable(self) -> bool:
        """True if a loss breaks the connection; otherwise a loss is not reported."""
        return self.level is not Reliability.UNRELIABLE

    def sends(self, node: int) -> list[int]:
        """Return the numbers of the messages that a host sends."""
        return [number for number, message in enumerate(self.traffic) if message.source == node]

    def receives(self, node: int) -> list[int]:
        """Return the numbers of the messages that consume a host's receives."""
        return [number for number in self.sends(1 - node) if not self.traffic[number].writes]

    def always(self, node: int, record: Any) -> str:
        """See `Promise`."""
        sent, got, written, state = record
        if state != "CONNECTED" and not (self.breaks and self.reliable):
            return f"the connection of host {node} is {state}, though no packet is missing"
        return self._sent(node, sent) or self._got(node, got, written)

    def _sent(self, node: int, sent: tuple[int, ...]) -> str:
        """Check that sends succeed and, where the connection may break, that all sends after a failure are flushed."""
        failed = False
        for number, status in zip(self.sends(node), sent, strict=False):
            wrong = Status(status) & Status.ERRORS
            expected = (Status.FLUSHED,) if failed else (Status(0), Status.TRANSPORT_ERROR, Status.FLUSHED)
            if wrong not in (expected if self.breaks and self.reliable else (Status(0),)):
                return f"message {number} of host {node} ends with {_names(wrong)}"
            failed |= bool(wrong)
        return ""

    def _got(self, node: int, got: tuple[tuple[int, bytes], ...], written: tuple[int, ...]) -> str:
        """Check that messages arrive whole, once, in order and after the writes before them; later receives are
        flushed.
        """
        bodies = {body(self.traffic[number], number): number for number in self.receives(node)}
        came = [bodies.get(data, -1) for status, data in got if status == RECEIVED]
        rest = [status for status, _ in got[len(came) :]]
        meant = self.receives(node)
        if self.reliable or not self.breaks:
            right = came == meant[: len(came)]
        else:
            right = came == sorted(set(came)) and -1 not in came
        if not right:
            return f"host {node} received messages {came}, but {meant} were sent"
        if any(status != RECEIVED | Status.FLUSHED for status in rest) or (rest and not self.breaks):
            return f"receives of host {node} end with {[hex(status) for status in rest]}"
        before = {number for last in came for number in self.sends(1 - node) if number < last}
        late = [number for number in before if self.traffic[number].writes and number not in written]
        return f"host {node} received messages {came} without the earlier writes: {late}" if late else ""

    def at_end(self, node: int, record: Any) -> str:
        """See `Promise`."""
        sent, got, *_ = record
        lacking = len(self.sends(node)) - len(sent), len(self.receives(node)) - len(got)
        if lacking[0] or (lacking[1] and (not self.breaks or (self.reliable and self.notices))):
            return "host {} waits for the ends of {} sends and {} receives".format(node, *lacking)
        return ""

    def together(self, records: tuple[Any, ...]) -> str:
        """See `Promise`."""
        for node, (sent, *_) in enumerate(records):
            _, got, written, _ = records[1 - node]
            came = [status for status, _ in got].count(RECEIVED) + len(written)
            done = [status & Status.ERRORS for status in sent].count(0)
            if self.reliable and came < done:
                return f"{done} messages of host {node} are done, but {came} have arrived"
        states = [state for *_, state in records if self.notices]
        return "" if len(set(states)) < 2 else f"the connection is {states[0]} at one end and {states[1]} at the other"


def describe(packet: bytes) -> str:
    """Return a description of a packet."""
    header = parse(int.from_bytes(packet[:4], "big"), int.from_bytes(packet[4:8], "big"))
    kind = Kind(header.kind)
    answers = kind >= Kind.DONE
    what = "connection message" if not header.vi else "for message" if answers else "of message"
    return f"{kind.name} {what} {header.sequence if answers else header.number}"


def _names(errors: Status) -> str:
    """Return the names of the errors of a status."""
    return " and ".join(str(one.name) for one in Status if one & errors == one) or "no error"

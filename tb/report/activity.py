"""Text signals of software for the waves, from the trace of a run.

| scope | signal | text |
|---|---|---|
| `<host>.cpu`, `<host>.nic` | `path` | path that the CPU, or the NIC processor, executes; in C the function |
| | `message` | message for which it works |
| `<host>.cpu` | `call` | library call in progress |
| `<host>.nic` | `doorbell` | message of which the NIC is notified, until it acts |
| | `fetch`, `store` | message of a host DMA block from the host, and to the host |
| | `sending`, `receiving` | message on the cable, from the first character to the last |
| | `completion` | message that has arrived, until the host notices it |
| `<host>.card` | `path`, `message` | circuit of an FPGA card, if one works |

A message is its number in `make explain`, or the key of its packet. Idle is empty.

The trace names the message of software only at events: those of firmware, or else of the engines. A path belongs to the
message of the last event since the previous path. Without one, it belongs to that of the first event up to the next
path, and otherwise to that of the last event. On a NIC that executes C, a message is shown from the first to the last
event of the engines. A call of `send` ends at its return. In layers that do not record the return, it ends at the last
word that the host writes to the NIC.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter

import numpy as np

from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tb.build.instances import word
from tb.report.fst import Text
from tb.report.life import Life, Mark
from tb.report.lives import Lives
from tb.report.recorded import Legend, Recorded
from tb.report.timeline_units import name_of
from tb.report.wire import Row, rows

Span = tuple[int, int, str]
"""Begin and end in ps, and text."""
SIGNALS = {
    "cpu": ("call", "path", "message"),
    "nic": ("doorbell", "path", "message", "fetch", "sending", "receiving", "store", "completion"),
    "card": ("path", "message"),
}
"""Signals by unit, in the order of a message's life."""
OF_MESSAGES = frozenset({"doorbell", "fetch", "sending", "receiving", "store", "completion", "message"})
"""Signals whose texts are messages."""
ENDS = {
    TraceEvent.WORK_END: (TraceEvent.WORK_START, "nic", "path"),
    TraceEvent.SPEND_END: (TraceEvent.SPEND_START, "cpu", "path"),
    TraceEvent.CALL_END: (TraceEvent.CALL_START, "cpu", "call"),
    TraceEvent.HANDLER_END: (TraceEvent.HANDLER_START, "cpu", "message"),
}
"""Events that end a span: the event that begins it, its unit and signal."""
STARTS = frozenset(start for start, _, _ in ENDS.values())
NOTIFIES = {TraceEvent.POINTER_WRITTEN, TraceEvent.POSTED}
SENDS = NOTIFIES | {TraceEvent.PAYLOAD_WRITTEN, TraceEvent.TRAPPED}
"""Events within a call of `send`."""
NOTICES = {TraceEvent.POLL_HIT, TraceEvent.IN_KERNEL, TraceEvent.IN_PROCESS, TraceEvent.HANDLER_START}
HARDWARE = {Part.NET_SEND, Part.NET_RECV, Part.HOST_DMA}
NIC_PARTS = {Part.NIC_CPU, Part.NET_SEND, Part.HOST_DMA}
WIRES = {
    TraceEvent.TX_HEAD: "sending",
    TraceEvent.TX_TAIL: "sending",
    TraceEvent.RX_HEAD: "receiving",
    TraceEvent.RX_TAIL: "receiving",
}
HEADS = {TraceEvent.TX_HEAD, TraceEvent.RX_HEAD}


def activity(recorded: Recorded, lives: Lives) -> list[Text]:
    """Return the text signals of all hosts.

    Args:
        recorded: Run.
        lives: Its messages.
    """
    legend = recorded.legend
    numbers = {mark[6]: life.number for life in lives.lives for mark in _marks(life) if mark[6]}
    taken = {(life.target, life.handled): str(life.number) for life in lives.lives if life.to_card}
    told = np.isin(recorded.trace["event"], list(NOTIFIES)).any()
    notifies = NOTIFIES if told else {TraceEvent.PAYLOAD_WRITTEN}
    nodes = [_Node(legend, node, lives.shown.calls, numbers, taken, notifies) for node in range(len(legend.hosts))]
    last = 0
    for row in rows(recorded.trace):
        last = row[0]
        if row[1] < SWITCH_BASE:
            nodes[row[1] // PARTS_PER_NODE].take(row)
    texts = []
    for node in nodes:
        found = node.finish(last)
        for unit, names in SIGNALS.items():
            if unit != "card" or found["card", "path"]:
                scopes = (word(legend.hosts[node.node]), unit)
                texts += [Text(scopes, name, innermost(found[unit, name])) for name in names]
    return texts


def _marks(life: Life) -> Iterable[Mark]:
    return [*life.before, *(mark for piece in life.pieces for mark in piece.marks)]


def innermost(spans: Sequence[Span]) -> list[tuple[int, str]]:
    """Return the changes of a signal that shows the text of the open span that began last; empty without one.

    Of spans with one begin, the shorter one counts as begun last. Spans without length are left out.
    """
    spans = sorted((span for span in spans if span[1] > span[0]), key=lambda span: (span[0], -span[1]))
    edges = [(begin, 1, at) for at, (begin, _, _) in enumerate(spans)]
    edges += [(end, 0, at) for at, (_, end, _) in enumerate(spans)]
    changes: dict[int, str] = {}
    inside: dict[int, str] = {}
    for time, begins, at in sorted(edges):
        if begins:
            inside[at] = spans[at][2]
        else:
            del inside[at]
        changes[time] = next(reversed(inside.values()), "")
    before, found = "", []
    for time, text in changes.items():
        if text != before:
            found.append((time, text))
        before = text
    return found


class _Node:
    """Spans of one host, collected from its records in time order."""

    def __init__(
        self,
        legend: Legend,
        node: int,
        calls: Sequence[str],
        numbers: Mapping[int, int],
        taken: Mapping[tuple[int | None, int | None], str],
        notifies: Collection[int],
    ) -> None:
        """Begin a host.

        Args:
            legend: Legend of the trace.
            node: Number of the host.
            calls: Names of application calls by number.
            numbers: Numbers of messages in `make explain`, by their number in the trace.
            taken: Messages that cards take, by node and time.
            notifies: Events of a host that notify its NIC.
        """
        self.node = node
        self._legend, self._calls, self._numbers, self._taken = legend, calls, numbers, taken
        self._notifies = notifies
        self._spans: dict[tuple[str, str], list[Span]] = defaultdict(list)
        self._events: dict[str, list[tuple[int, str]]] = {"cpu": [], "nic": []}
        """Times and messages of the events of software that name a message, by unit."""
        self._hardware: list[tuple[int, str]] = []
        """Times and messages of the events of the engines."""
        self._open: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
        """Begin and text of calls and paths that have begun, by unit and event."""
        self._sends: dict[str, tuple[int, int, bool]] = {}
        """Begin and end of each call of `send` by message, and whether it has returned."""
        self._notified: dict[str, int] = {}
        """Time since which the NIC has not acted for a message."""
        self._complete: dict[str, int] = {}
        """Time since which the host has not noticed a message."""
        self._moving: dict[tuple[str, int], deque[tuple[int, str]]] = defaultdict(deque)
        """Packets on the wire and blocks of host DMA, in order."""
        self._function: tuple[int, str] | None = None
        """Begin and name of the function that the NIC's processor executes."""
        self._node_executes = node in legend.executing

    def take(self, row: Row) -> None:
        """Take the next record of the node."""
        time, unit, event, packet, argument, _, number = row
        part = unit % PARTS_PER_NODE
        message = self._named(number, packet) if number else ""
        side = "cpu" if part == Part.HOST_CPU else "nic"
        if message:
            if part in (Part.HOST_CPU, Part.NIC_CPU):
                self._events[side].append((time, message))
            elif part in HARDWARE:
                self._hardware.append((time, message))
            self._wait(row, message)
        if event in STARTS:
            # Software acts at odd times; the recorded begin of a path on the CPU may be one later.
            begin = time - 1 if event == TraceEvent.SPEND_START and not time % 2 else time
            self._open[unit, event].append((begin, self._text(event, argument, message)))
        elif event in ENDS:
            self._end(unit, event, time)
        elif event == TraceEvent.FUNCTION:
            self._change(time, self._legend.function(argument)[-1][0])
        elif event in (TraceEvent.CARD_TAKE, TraceEvent.CARD_GIVE):
            self._card(time, event)
        else:
            self._move(row, part, message)

    def finish(self, last: int) -> dict[tuple[str, str], list[Span]]:
        """Return the spans by unit and signal; `last` is the time of the last record."""
        self._change(last, "")
        for message, (begin, end, _) in self._sends.items():
            self._spans["cpu", "call"].append((begin, end, "send"))
            self._spans["cpu", "message"].append((begin, end, message))
        for side, events in (("cpu", self._events["cpu"]), ("nic", self._events["nic"] or self._hardware)):
            if side == "nic" and self._node_executes:
                self._spans[side, "message"] = _present(events)
            else:
                self._spans[side, "message"] += _worked_for(sorted(self._spans[side, "path"]), events)
        return self._spans

    def _named(self, number: int, packet: int) -> str:
        return str(self._numbers[number]) if number in self._numbers else f"0x{packet:08x}" if packet else ""

    def _text(self, event: int, argument: int, message: str) -> str:
        if event == TraceEvent.CALL_START:
            return name_of(self._calls, argument)
        return message if event == TraceEvent.HANDLER_START else self._legend.path(argument)

    def _end(self, unit: int, event: int, time: int) -> None:
        """End the span that began last."""
        start, side, name = ENDS[TraceEvent(event)]
        if begun := self._open[unit, start]:
            begin, text = begun.pop()
            self._spans[side, name].append((begin, time, text))

    def _send(self, time: int, event: int, message: str) -> None:
        """Begin a call of `send`, or move its end."""
        if event == TraceEvent.SEND_CALL:
            self._sends[message] = time, time, False
        elif message in self._sends and not self._sends[message][2]:
            self._sends[message] = self._sends[message][0], time, event == TraceEvent.SEND_RETURN

    def _change(self, time: int, name: str) -> None:
        """Change the function that the NIC's processor executes."""
        if self._function:
            self._spans["nic", "path"].append((self._function[0], time, self._function[1]))
        self._function = time, name

    def _card(self, time: int, event: int) -> None:
        if event == TraceEvent.CARD_TAKE:
            self._moving["card", 0].append((time, self._taken.get((self.node, time), "")))
        elif self._moving["card", 0]:
            begin, message = self._moving["card", 0].popleft()
            self._spans["card", "path"].append((begin, time, "circuit"))
            self._spans["card", "message"].append((begin, time, message))

    def _wait(self, row: Row, message: str) -> None:
        """Begin and end the call that sends a message, and the spans in which it waits for the other side."""
        time, unit, event = row[:3]
        part = unit % PARTS_PER_NODE
        if event in SENDS or event in (TraceEvent.SEND_CALL, TraceEvent.SEND_RETURN):
            self._send(time, event, message)
        if event in self._notifies:
            self._notified.setdefault(message, time)
        elif part in NIC_PARTS and message in self._notified:
            self._spans["nic", "doorbell"].append((self._notified.pop(message), time, message))
        if event in NOTICES and message in self._complete:
            self._spans["nic", "completion"].append((self._complete.pop(message), time, message))
        elif (part == Part.NET_RECV and event == TraceEvent.RX_TAIL) or (event == TraceEvent.DMA_DONE and row[5] < 0):
            self._complete[message] = time

    def _move(self, row: Row, part: int, message: str) -> None:
        """Begin or end a packet on the wire, or a block of host DMA."""
        time, _, event, packet, argument, size, _ = row
        if event in WIRES and part == Part.LINK:
            name, lane, begins = WIRES[TraceEvent(event)], 0, event in HEADS
        elif event in (TraceEvent.DMA_START, TraceEvent.DMA_DONE):
            name, lane, begins = "fetch" if size > 0 else "store", argument, event == TraceEvent.DMA_START
        else:
            return
        lane_of = self._moving[name, lane]
        if begins:
            lane_of.append((time, message or (f"0x{packet:08x}" if part == Part.LINK else f"{abs(size)} B")))
        elif lane_of:
            begin, text = lane_of.popleft()
            self._spans["nic", name].append((begin, time, text))


def _present(events: Iterable[tuple[int, str]]) -> list[Span]:
    """Return the span of each message from its first to its last event."""
    found: dict[str, Span] = {}
    for time, message in events:
        found[message] = found[message][0] if message in found else time, time, message
    return list(found.values())


def _worked_for(paths: Sequence[Span], events: Sequence[tuple[int, str]]) -> list[Span]:
    """Return the spans of the messages for which paths are executed; both arguments are in time order."""
    found: list[Span] = []
    at: Callable[[tuple[int, str]], int] = itemgetter(0)
    before = 0
    for number, (begin, end, _) in enumerate(paths):
        after = paths[number + 1][0] if number + 1 < len(paths) else end + 1
        last = bisect_right(events, begin, key=at) - 1
        following = bisect_left(events, end, key=at)
        if last >= 0 and events[last][0] >= before:
            found.append((begin, end, events[last][1]))
        elif following < len(events) and events[following][0] <= after:
            found.append((begin, end, events[following][1]))
        elif last >= 0:
            found.append((begin, end, events[last][1]))
        before = end
    return found

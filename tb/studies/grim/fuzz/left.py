"""Conservation: resources that firmware and library must have released when everything has been answered."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.grim.host import Grim
from firmware.grim.host.incoming import Sender
from firmware.grim.nic.layout import NONE, Register
from firmware.grim.nic.scan import Firmware
from tb.studies.grim.fuzz.in_c import ExecutingNi
from tb.studies.grim.fuzz.mail import Mail, Place


def held(me: int, ni: Firmware | ExecutingNi, library: Grim, mail: Mail) -> Iterator[str]:
    """Yield a description of each resource that a node still holds."""
    of_ni = _of_ni(ni) if isinstance(ni, Firmware) else (line for one in ni.holds() for line in _some(*one))
    yield from (f"NI {me} holds {what}" for what in of_ni)
    yield from (f"host {me} holds {what}" for what in _of_host(library, mail, me))


def _of_ni(firmware: Firmware) -> Iterator[str]:
    parts, layout, nic = firmware.parts, firmware.ni.layout, firmware.nic
    outgoing, streams, transmitter, remote = parts.outgoing, parts.outgoing.streams, parts.transmitter, parts.remote
    yield from _some("receive buffers", parts.buffers.free.count(False))
    yield from _some("an unarmed receive engine", parts.buffers.armed == NONE)
    yield from _some("answers in its control queue", transmitter.waiting)
    yield from _some("a prepared message", transmitter.prepared is not None)
    for channel in outgoing.all:
        yield from _some(f"scoreboard entries of channel {channel.index}", channel.count)
        front, back = (nic.load(layout.register(channel.index, one)) for one in (Register.FRONT, Register.BACK))
        if channel.index < len(outgoing.channels):
            yield from _some(f"a queue of channel {channel.index} that is not empty", front != back)
    yield from _some("messages in flight", sum(streams.in_flight))
    yield from _some("messages that wait", sum(streams.waiting))
    yield from _some("streams within the retry delay", sum(streams.held))
    yield from _some("a parked remote operation", remote._parked is not None)
    yield from _some("remote operations under way", remote.under_way)
    yield from _some("own messages for a tree", len(parts.multicast._own))
    if parts.buffering is not None:
        yield from _some("messages in incoming queues", sum(len(queue) for queue in parts.buffering.queues))


def _of_host(library: Grim, mail: Mail, node: int) -> Iterator[str]:
    messenger = library.calls.messenger
    yield from _some("messages in overflow queues", library.overflow)
    yield from _some("the turn to send", sum(messenger.queues.locked))
    yield from _some("errors that were not raised", len(library.calls.errors))
    for channel, incoming in enumerate(messenger.dispatch.incoming):
        yield from _some("unread messages", incoming.pending())
        parts = [sender for sender in incoming._long if not _may_stay(sender, mail, (node, channel))]
        yield from _some("parts of long messages", len(parts))


def _may_stay(sender: Sender, mail: Mail, place: Place) -> bool:
    """Return True if segments may be kept: the rest of a tree's message was lost in a node that went down."""
    return sender.tree >= 0 and mail.may_lack((sender.vnn, sender.number & 0xFF), sender.tree, place)


def _some(what: str, count: int) -> Iterator[str]:
    if count:
        yield f"{what} ({int(count)})"

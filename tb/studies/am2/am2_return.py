"""After how many retransmissions does a message of Active Messages II come back, and does it come back whole?

Strategy: AM-II (paper 002). The last host does not poll. Two endpoints of the first host send it one message more than
its queue of requests has places. The last message is never acknowledged, so its NIC retransmits it several times and
then returns it. Retransmissions are counted on the cable, by the packets with its name that reach the last host; the
time is taken from the NIC's own records. With `am2.full=nack` the message returns at once, as congestion. Then one
message is sent for each other reason to return. Every returned message is compared with the sent one, although the
program has changed its own buffer since. An answer that the requester's library rejects returns to its sender.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.am2.nic.words import Head, Kind, Queue
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, TAG, Endpoints
from tb.studies.kit.records import since

if TYPE_CHECKING:
    from firmware.am2.host import Endpoint, EndpointName, Token

LAYER = "am2"
KEEP, BADLY, NOBODY = FIRST, FIRST + 1, 200
PLACES = 32
SETTLE_PS = 2_000_000_000
"""Time after which all earlier messages have arrived or returned, ps."""
LOOK_PS = 10_000_000
WORDS, SIZE = (1, 2, 3, 4, 5, 6, 7, 8), 600
OPTIONS = {
    **layer_options(LAYER),
    "am2.credits": Option(PLACES, "unanswered requests to an endpoint: enough to fill its queue", PLACES, 32),
    "am2.timeout_us": Option(4000, "time-out after which an unacknowledged message is retransmitted", 5, 1_000_000),
}
QUICK = "am2.retries=9"
VARIANTS = {"nack": ("", "am2.full=nack")}


class Sender:
    """Program of the first host."""

    def __init__(self, lab: Lab, ends: Endpoints) -> None:
        self.lab, self.ends = lab, ends
        self.equal = True
        self.found: list[tuple[str, int]] = []
        """Reason and bytes of each returned message."""

    async def returned(self, token: Token) -> None:
        """Handle a returned message."""
        sent = _payload(token.size)
        self.equal = self.equal and (token.arguments, token.data) == (WORDS, sent)
        self.found.append((token.status.name.lower(), token.size))

    async def send(self, endpoint: Endpoint, index: int, handler: int, size: int = SIZE) -> None:
        """Send a message and change its buffer as soon as allowed."""
        buffer = bytearray(_payload(size))
        if size:
            await endpoint.request_i(index, handler, buffer, *WORDS)
        else:
            await endpoint.request(index, handler, *WORDS)
        buffer[:] = bytes(size)

    async def back(self, count: int, what: str) -> None:
        """Wait until `count` messages have returned."""
        await self.ends.bundles[0].until(lambda: len(self.found) >= count, what)


def _payload(size: int) -> bytes:
    return bytes(at * 7 % 256 for at in range(size))


async def run(lab: Lab) -> None:
    """Run the study."""

    async def keep(token: Token) -> None:
        """Handle a message on the last host without an effect."""

    async def badly(token: Token) -> None:
        """Answer on the last host to a handler that the requester does not have."""
        await token.reply_i(NOBODY, token.data, *token.arguments)

    ends = Endpoints(lab, lab.start_layer(LAYER))
    await ends.start(keep, badly)
    sender, far = Sender(lab, ends), ends.far
    more = await ends.open(ends.bundles[0], keep, badly)
    ends.know(more)
    for endpoint in ends.bundles[0].endpoints:
        endpoint.set_handler(0, sender.returned)
    await _unacknowledged(lab, sender, more, far)
    lab.progress(1, 2, "parts")
    ends.serve_far()
    await ends.answered()
    await _reasons(lab, sender, far)
    lab.metric("bytes_returned_equal", int(sender.equal))
    lab.check("payload of returned messages", sender.equal, "a message was returned changed")
    await ends.stop()


async def _unacknowledged(lab: Lab, sender: Sender, more: Endpoint, far: int) -> None:
    """Send one message more than there are places, and measure its return."""
    for _ in range(PLACES):
        await sender.send(sender.ends.endpoints[0], far, KEEP, size=0)
    await lab.kernel.sleep(SETTLE_PS, "the messages that have places")
    started = lab.kernel.now
    await sender.send(more, far, KEEP)
    retries, timeout_ps = lab.option("am2.retries"), lab.option("am2.timeout_us") * 1_000_000
    if lab.text("am2.full") == "silent":
        await lab.kernel.sleep(round((retries + 1.02) * timeout_ps) + 100_000_000, "the last time-out")
    await sender.back(1, "the message for the full queue")
    trace = since(lab, started)
    name = int(trace[trace["event"] == TraceEvent.NIC_SEND_START]["packet"][0])
    mine = trace[trace["packet"] == name]
    heads = mine[(mine["event"] == TraceEvent.RX_HEAD) & (mine["unit"] == PARTS_PER_NODE * far + Part.LINK)]
    begun, ended = (
        int(mine[mine["event"] == event]["time"][0]) for event in (TraceEvent.NIC_SEND_START, TraceEvent.NIC_DROPPED)
    )
    lab.metric("transmissions", len(heads))
    lab.metric("retries", int((mine["event"] == TraceEvent.RESEND).sum()))
    lab.metric("time_to_return_over_timeout", (ended - begun) / timeout_ps)
    lab.metric(f"returned_{sender.found[0][0]}", 1)
    lab.findings.messages += PLACES + 1


async def _reasons(lab: Lab, sender: Sender, far: int) -> None:
    """Send one message for each other reason to return."""
    ends, near = sender.ends, sender.ends.endpoints[0]
    name = ends.endpoints[far].name
    near.map(100, name._replace(endpoint=50), TAG)
    near.map(101, name, TAG + 1)
    near.map(102, name._replace(node=99), TAG)
    reasons = {
        "bad_endpoint": near.request_i(100, KEEP, _payload(SIZE), *WORDS),
        "bad_tag": near.request_i(101, KEEP, _payload(SIZE), *WORDS),
        "unreachable": near.request_i(102, KEEP, _payload(SIZE), *WORDS),
        "bad_handler": near.request_i(far, NOBODY, _payload(SIZE), *WORDS),
        "bad_segment_offset": near.request_xfer_async(far, 8, KEEP, _payload(SIZE), *WORDS),
        "bad_length": near.request_xfer_async(far, 0, KEEP, _payload(SIZE), *WORDS),
        "bad_arguments": _nine_words(near, name),
    }
    for done, (reason, send) in enumerate(reasons.items()):
        before = len(sender.found)
        await send
        await sender.back(before + 1, f"the message for {reason}")
        lab.check(
            f"reason {reason}",
            sender.found[-1][0] == reason,
            f"returned for {sender.found[-1][0]}, but the reason is {reason}",
        )
        lab.metric(f"returned_{reason}_at_once", sum(found[0] == reason for found in sender.found[1:]))
        lab.findings.messages += 1
        lab.progress(1 + (done + 1) // len(reasons), 2, "parts")
    await near.request_i(far, BADLY, _payload(SIZE), *WORDS)
    while not ends.back:
        await ends.bundles[0].poll()
        await lab.kernel.sleep(LOOK_PS, "the return of the rejected answer to the last host")
    (token,) = ends.back
    reason = token.status.name.lower()
    lab.check(
        "reason of the rejected reply",
        reason == "reply_rejected",
        f"returned for {reason}, but the reason is reply_rejected",
    )
    lab.metric("returned_reply_rejected_at_once", int(reason == "reply_rejected"))
    sender.equal = sender.equal and token.arguments == WORDS and token.size == SIZE


async def _nine_words(near: Endpoint, name: EndpointName) -> None:
    """Write a descriptor with nine words directly, because the library does not send such a message."""
    send = near._sends[Queue.REQUEST_SEND]
    await near._frame.post(send, "am2_request", Head(Kind.SHORT, len(WORDS) + 1, KEEP), name, TAG, WORDS, b"")

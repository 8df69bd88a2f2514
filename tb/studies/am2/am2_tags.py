"""Which messages does an endpoint of Active Messages II accept by their tag, and what happens to the others?

Strategy: AM-II (paper 002). The first host sends the same messages to the last one while the tag of its endpoint is
theirs, another one, NEVER, and ALWAYS. In a last case the tag changes while the message is in flight: the message is
posted after the system call has begun, and arrives after the NIC has read the new tag. Handled and returned messages
are counted; the NICs themselves count the rejections.
"""

from __future__ import annotations

from firmware.am2.nic.layout import Word
from firmware.am2.nic.words import ALWAYS, NEVER
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, TAG, Endpoints

LAYER = "am2"
KEEP = FIRST
CASES = {"match": TAG, "mismatch": TAG + 1, "never": NEVER, "always": ALWAYS}
OPTIONS = {"messages": Option(6, "messages of each case", 1, 100_000), **layer_options(LAYER)}
QUICK = "messages=2"


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    await ends.start(ends.keep)
    ends.serve_far()
    far, returned = ends.endpoints[ends.far], 0
    for done, (case, tag) in enumerate(CASES.items()):
        await far.set_tag(tag)
        returned += await send(lab, ends, case)
        lab.progress(done + 1, len(CASES) + 1, "cases")
    await far.set_tag(TAG)
    changing = lab.spawn(far.set_tag(TAG + 1), "the change of the tag")
    returned += await send(lab, ends, "change_in_flight")
    await changing.finished
    lab.progress(len(CASES) + 1, len(CASES) + 1, "cases")
    refused = [lab.running.nics[node].load(Word.REFUSED) for node in (0, ends.far)]
    lab.metric("refused_by_sender", refused[0])
    lab.metric("refused_by_receiver", refused[1])
    lab.check("rejections", refused == [0, returned], f"rejected by sender and receiver: {refused}")
    await far.set_tag(TAG)
    await ends.stop()


async def send(lab: Lab, ends: Endpoints, case: str) -> int:
    """Send the messages of a case; return how many returned for their tag, once no other is in flight."""
    count = lab.option("messages")
    ends.back.clear()
    ends.kept.clear()
    for number in range(count):
        await ends.endpoints[0].request(ends.far, KEEP, number)
    await ends.answered()
    handled, back = len(ends.kept), len(ends.back)
    lab.check(
        f"messages of {case}",
        handled + back == count,
        f"{handled} handled, {back} returned, but {count} were sent",
    )
    lab.check(
        f"reasons of {case}",
        all(token.status.name == "BAD_TAG" for token in ends.back),
        "returned for a reason other than BAD_TAG",
    )
    lab.metric(f"handled_{case}", handled)
    lab.metric(f"returned_{case}", back)
    lab.findings.messages += count
    return back

"""Which messages does an endpoint of Active Messages II take by their tag, and what becomes of the others?

Strategy: AM-II (paper 002). The first host sends the last one the same messages while the tag of its endpoint is the
one that they carry, another one, NEVER, and ALWAYS; then one whose tag is changed while it is under way: posted after
the system call has begun, it arrives when the NIC has read the new tag. Messages that were handled, and that came
back, are counted; who refuses is counted by the NICs themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.am2.nic.layout import Word
from firmware.am2.nic.words import ALWAYS, NEVER
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, TAG, Ends

if TYPE_CHECKING:
    from firmware.am2.host import Token

LAYER = "am2"
KEEP = FIRST
CASES = {"match": TAG, "mismatch": TAG + 1, "never": NEVER, "always": ALWAYS}
OPTIONS = {"messages": Option(6, "messages of each case", 1, 100_000), **layer_options(LAYER)}
QUICK = "messages=2"


class Tags:
    """Two hosts, and what has come."""

    def __init__(self, lab: Lab, ends: Ends) -> None:
        self.lab, self.ends, self.handled = lab, ends, 0
        self.refused: dict[str, int] = {}
        """By case: messages that came back, all of them for their tag."""

    async def keep(self, token: Token) -> None:
        """Handler of messages."""
        self.handled += 1

    async def send(self, case: str) -> None:
        """Messages of a case, until each is answered or has come back."""
        ends, count, far = self.ends, self.lab.option("messages"), len(self.ends.endpoints) - 1
        ends.back.clear()
        self.handled = 0
        for number in range(count):
            await ends.endpoints[0].request(far, KEEP, number)
        await ends.bundles[0].until(lambda: not ends.endpoints[0].unanswered, "the answers")
        back = len(ends.back)
        self.lab.check(self.handled + back == count, f"{case}: {self.handled} handled, {back} came back, not {count}")
        self.lab.check(all(token.status.name == "BAD_TAG" for token in ends.back), f"{case}: another code than BAD_TAG")
        self.lab.metric(f"handled_{case}", self.handled)
        self.lab.metric(f"returned_{case}", back)
        self.lab.findings.messages += count
        self.refused[case] = back


async def run(lab: Lab) -> None:
    """The study."""
    ends = Ends(lab, lab.start_layer(LAYER))
    tags, far = Tags(lab, ends), len(ends.layers) - 1
    await ends.start(tags.keep)
    serving = lab.spawn(ends.serve(far), "the far program")
    for done, (case, tag) in enumerate(CASES.items()):
        await ends.endpoints[far].set_tag(tag)
        await tags.send(case)
        lab.progress(done + 1, len(CASES) + 1, "cases")
    await ends.endpoints[far].set_tag(TAG)
    changing = lab.spawn(ends.endpoints[far].set_tag(TAG + 1), "the change of the tag")
    await tags.send("change_in_flight")
    await changing.finished
    lab.progress(len(CASES) + 1, len(CASES) + 1, "cases")
    refused = [lab.running.nics[node].load(Word.REFUSED) for node in (0, far)]
    lab.metric("refused_by_sender", refused[0])
    lab.metric("refused_by_receiver", refused[1])
    lab.check(refused == [0, sum(tags.refused.values())], f"refused by sender and receiver: {refused}")
    await ends.endpoints[far].set_tag(TAG)
    await ends.close(far)
    await lab.all([serving])

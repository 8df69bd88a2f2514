"""What a fault has done, by comparison with the same run without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymodels.config import Cluster
from tb.campaign.passed import let_through
from tb.campaign.work import Report
from tb.plan.faults import KINDS, Fault

OUTCOMES = {
    "no effect": "all messages arrive, and nobody has noticed anything",
    "harmless": "somebody has noticed it; all messages arrive without being sent again",
    "resent": "messages were sent again because somebody refused them",
    "timed out": "messages were sent again because nobody answered",
    "refused": "a call of the layer has told of an error",
    "hang named": "hosts wait for ever, and the report of who waits for whom names what was struck",
    "hang": "hosts wait for ever, and nothing points at what was struck",
    "dies": "software or the laboratory stops at what cannot be: an exception of the firmware, DMA to memory of nobody",
    "silent": "a message was delivered changed, twice, or out of order, and nobody has said so",
    "silent neighbour": "the same of a message between hosts that were not struck, or of memory that nobody may touch",
}
"""All, the best first, with what they mean."""
SILENT = ("silent", "silent neighbour")
CHECKED = frozenset(name for name, kind in KINDS.items() if kind.layer == "link") | {"lost_interrupt", "reset", "stop"}
"""Faults that change no data, or change them where CRC-8 sees it: no message may be delivered changed."""
NOT_SENT = "that was not sent so"
LET_THROUGH = "in a packet whose CRC-8 is right"
"""A burst of more than 8 bits, of which CRC-8 lets one in 256 through."""
Due = list[list[list[str]]]
"""By receiver and sender: messages in hexadecimal."""


def judge(fault: Fault, clean: Report, run: Report, due: Due, cluster: Cluster) -> tuple[str, str]:
    """The outcome, and what it is recognised by. `due`: what arrives when nothing is disturbed."""
    if run.guards:
        return "silent neighbour", f"guards of {', '.join(run.guards)} have changed"
    if run.died:
        return "dies", run.died
    if run.errors:
        return "refused", run.errors[0]
    if wrong := _wrong(run, due):
        receiver, sender, what = wrong
        names = cluster.names
        far = _struck(fault, names) not in (None, receiver, sender)
        return ("silent neighbour" if far else "silent"), f"{names[receiver]} has a message of {names[sender]} {what}"
    return _undisturbed(clean, run) if run.ended_ps else _hang(fault, run, cluster)


def _undisturbed(clean: Report, run: Report) -> tuple[str, str]:
    """All messages have arrived."""
    more = {name: count for name, count in run.seen.items() if count > clean.seen.get(name, 0)}
    if more.get("TIMEOUT"):
        return "timed out", _counts(more)
    if more.get("RESEND") or more.get("ROLLBACK"):
        return "resent", _counts(more)
    if run.invariants or more:
        return "harmless", next(iter(run.invariants), _counts(more))
    return "no effect", ""


def _hang(fault: Fault, run: Report, cluster: Cluster) -> tuple[str, str]:
    """Named: by a broken rule, or by a wait that names what was struck."""
    if run.invariants:
        return "hang named", run.invariants[0]
    words = _words(fault, cluster)
    told = [line for line in run.waiting if any(word in line for word in words)]
    noticed = {name: count for name, count in run.seen.items() if name.islower() and count}
    if told or noticed:
        return "hang named", next(iter(told), _counts(noticed))
    return "hang", next(iter(run.waiting), "nobody is known to hold what hosts wait for")


def _wrong(run: Report, due: Due) -> tuple[int, int, str] | None:
    """Receiver, sender and what is wrong of the first message that is."""
    for receiver, (came, sent_to) in enumerate(zip(run.arrived, due, strict=True)):
        for sender, (got, sent) in enumerate(zip(came, sent_to, strict=True)):
            if changed := [one for one in got if one not in sent]:
                through = all(let_through(one, sent, run.passed) for one in changed)
                return receiver, sender, NOT_SENT + (f", {LET_THROUGH}" if through else "")
            if len(set(got)) < len(got):
                return receiver, sender, "twice"
            if got != sent[: len(got)]:
                return receiver, sender, "out of order, or not at all"
    return None


def _struck(fault: Fault, names: Sequence[str]) -> int | None:
    """The host that was struck; None for a port of a switch."""
    place = fault.place.rpartition(".")[0] or fault.place
    return names.index(place) if place in names else None


def _words(fault: Fault, cluster: Cluster) -> list[str]:
    """What names the place of a fault; of a cable, its other end too."""
    if not KINDS[fault.kind].port:
        ends = [fault.place]
    else:
        end = cluster.topology.port(fault.place)
        ends = [end.node, cluster.topology.peers[end].node]
    of_nodes = [
        f"{part} {cluster.names.index(one)}" for one in ends if one in cluster.names for part in ("NIC", "node")
    ]
    return [*ends, *of_nodes]


def _counts(more: Mapping[str, int]) -> str:
    return ", ".join(f"{name.lower()} {count}" for name, count in sorted(more.items()))

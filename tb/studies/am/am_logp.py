"""What are o_s, o_r, L and g of a short message of each layer on a NIC, and do they sum to a round trip?

Strategy: overheads and gaps come from netgauge's rounds between the first and the last host (`_loggp.py`), with delays
in which a host does not poll. L is measured separately, with single messages to a polling host: from the return of the
send call to the poll that finds the message (from the trace), the mean over random phases. Then the two hosts play
ping-pong. The model's law, round trip = 2 (o_s + L + o_r), must hold within 5 %. The stages of the single and the
ping-pong messages show where it does not.

A request-reply layer answers each message by itself, so a round costs each host the overheads of two messages. Half of
the host time of a round is attributed to one message: o_s is the call that sends a request, with nothing else to do,
and o_r the rest. A round trip is a request that is answered with the same bytes.

A host that reads messages from the card cannot satisfy the law. The time to find a message over the bus counts twice:
in its overhead, which is measured with messages already present, and in L, which ends when the message is found. The
work at the card after a reply is part of the overhead, but no host waits for it. Both are measured (`found_us`,
`behind_reply_us`), and the law may exceed the round trip by at most their sum.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firmware.layers import with_mail
from firmware.stack import layers_below
from pymodels.errors import ConfigError
from pymodels.loggp.parameters import fitted
from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.costs._loggp import Pair, sizes_up_to, variants
from tb.studies.kit.mail import End, all_mails, finish, ping_pong
from tb.studies.kit.payload import pattern
from tb.studies.kit.records import times
from tb.studies.kit.rounds import phases
from tb.studies.kit.stages import stage_times

CLUSTER = "two_hosts"
LAYERS = [layer for layer in with_mail() if not layers_below(layer)]
OPTIONS = {
    "repetitions": Option(1, "rounds of each kind and size", 1, 1000),
    "messages": Option(20, "single messages, and round trips", 1, 100_000),
    "size": Option(16, "bytes of the short message", 4, 64, unit="bytes"),
    "largest": Option(1024, "largest message in bytes, for G; limited by the layer", 8, 1 << 16, unit="bytes"),
}
VARIANTS = {name: given for name, given in variants("repetitions=3").items() if name in LAYERS}
WITHIN = 5
"""Tolerance of the law, percent."""
WAITING = 4
"""Number of messages that wait together; each but the first is found at once."""
REST_PS = 100_000_000
"""Pause between single messages, ps, after which the network is idle."""


@dataclass(frozen=True)
class Sent:
    """Times of a single message, ps."""

    called: int
    """Begin of the send call."""
    returned: int
    received: int
    """Return of the receive call."""


def check(plan: Plan) -> None:
    """Raise ConfigError if the run has no trace."""
    if not plan.options["run.trace"]:
        raise ConfigError("SET", 0, "no trace", "the study reads the times of polls from it", "remove run.trace=0")


async def run(lab: Lab) -> None:
    """Run the study."""
    mails, size = await all_mails(lab), lab.option("size")
    near, far = End(0, mails[0]), End(len(mails) - 1, mails[-1])
    pair = Pair(lab, near, far, lab.option("repetitions"), lab.seed)
    sizes = sorted({size, *sizes_up_to(min(lab.option("largest"), mails[0].most), 4)})
    rounds = [await pair.measure(one) for one in sizes]
    begun = lab.kernel.now
    single = await _single(lab, near, far, size)
    alone, begun = stage_times(lab, near.node, begun), lab.kernel.now
    trips = await ping_pong(lab, near, far, size, lab.option("messages"), _silence(lab, "trips"), answer_first=True)
    round_trip, behind = statistics.mean(trips.took), _busy_behind(lab, far.node, trips.answers)
    at_card = {"found": await _found(lab, near, far, size), "behind_reply": behind} if near.mail.reads_card else {}
    _tell_stages(lab, {"single": alone, "ping_pong": stage_times(lab, near.node, begun)})
    await finish(lab, mails)
    lab.findings.messages += pair.messages + 2 * len(single)
    call = statistics.mean(one.returned - one.called for one in single)
    latency = statistics.mean(hit - one.returned for hit, one in zip(_hits(lab, far.node, single), single, strict=True))
    short = rounds[sizes.index(size)]
    o_s, o_r = (call, (short.o_s + short.o_r) / 2 - call) if near.mail.answered else (short.o_s, short.o_r)
    _hand_in(lab, {"o_s": o_s, "o_r": o_r, "latency": latency, "gap": short.gap}, round_trip, at_card)
    lab.metric("gap_ns_per_B", fitted(rounds).G / 1e3)


def _hand_in(lab: Lab, parameters: Mapping[str, float], round_trip: float, at_card: Mapping[str, float]) -> None:
    """Record the parameters and check the law.

    Args:
        lab: the lab.
        parameters: o_s, o_r, latency and gap, ps.
        round_trip: measured round trip, ps.
        at_card: times that the law counts and a round trip may hide, ps, once for each side.
    """
    law = 2 * (parameters["o_s"] + parameters["latency"] + parameters["o_r"])
    for name, ps in {**parameters, "round_trip": round_trip, "law": law, **at_card}.items():
        lab.metric(f"{name}_us", ps / 1e6)
    lab.metric("law_percent_of_round_trip", 100 * law / round_trip)
    values = [ps / 1e6 for ps in parameters.values()]
    lab.series("parameters", range(len(values)), values, f"parameter: {' '.join(parameters)}", "us")
    least, most = (round_trip * (1 + part / 100) for part in (-WITHIN, WITHIN))
    held = least <= law <= most + 2 * sum(at_card.values())
    lab.check(
        "round trip", held, f"2 (o_s + L + o_r) is {law / 1e6:.3f} us, and a round trip {round_trip / 1e6:.3f} us"
    )


def _tell_stages(lab: Lab, found: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Record the mean of each stage of the first host's messages."""
    for where, stages in found.items():
        for stage, took in stages.items():
            lab.metric(f"{where}_stage_us_{stage}", statistics.mean(took))


async def _single(lab: Lab, near: End, far: End, size: int) -> list[Sent]:
    """Send messages one by one, at random phases, to a polling host."""
    pause, data, sent = _silence(lab, "single"), pattern(size), list[Sent]()
    for _ in range(lab.option("messages")):
        await near.mail.settle()
        receiving = lab.spawn(_received(lab, far), "the far host")
        await lab.kernel.sleep(pause(), "silence")
        called = lab.kernel.now
        await near.mail.send(far.node, data)
        returned = lab.kernel.now
        (received,) = await lab.all([receiving])
        sent.append(Sent(called, returned, received))
    await near.mail.settle()
    return sent


async def _received(lab: Lab, end: End) -> int:
    await end.mail.receive()
    return lab.kernel.now


async def _found(lab: Lab, near: End, far: End, size: int) -> float:
    """Return the mean time, ps, in which the far host finds a message that waits at its card.

    The time begins when the host has finished the previous message: with the reply of a request-reply layer, else with
    the call of `receive`. It ends when a poll finds the message.
    """
    begun, called = lab.kernel.now, list[int]()
    for _ in range(WAITING):
        await near.mail.send(far.node, pattern(size))
    await lab.kernel.sleep(REST_PS, "other work")
    for _ in range(WAITING):
        called.append(lab.kernel.now)
        await far.mail.receive()
    await near.mail.settle()
    hits, replies = (_times(lab, far.node, event) for event in (TraceEvent.POLL_HIT, TraceEvent.POINTER_WRITTEN))
    through = replies[replies > begun] if far.mail.answered else called[1:]
    return float(np.mean([hit - start for hit, start in zip(hits[hits > begun][1:], through, strict=False)]))


def _busy_behind(lab: Lab, node: int, ended: Sequence[int]) -> float:
    """Return the mean time, ps, for which the far host stays busy after its last handler, or 0 without handlers.

    Args:
        lab: the lab.
        node: the far host.
        ended: end of each trip at that host, ps.
    """
    replies = _times(lab, node, TraceEvent.POINTER_WRITTEN)
    return statistics.mean([one - int(replies[replies <= one].max()) for one in ended if (replies <= one).any()] or [0])


def _silence(lab: Lab, what: str) -> Callable[[], int]:
    """Return a function that draws pauses in ps after which the network is idle, each with another phase."""
    draw = phases(f"{what} {lab.seed}")
    return lambda: REST_PS + draw()


def _hits(lab: Lab, target: int, sent: Sequence[Sent]) -> list[int]:
    """Return the time of the poll that finds each message, ps."""
    hits, found = _times(lab, target, TraceEvent.POLL_HIT), list[int]()
    for one in sent:
        here = hits[(hits >= one.called) & (hits <= one.received)]
        lab.check(
            "polls that hit",
            len(here) == 1,
            f"{len(here)} polls hit between {one.called} and {one.received} ps; expected 1",
        )
        found.append(int(here[0]) if len(here) else one.received)
    return found


def _times(lab: Lab, node: int, event: TraceEvent) -> NDArray[np.int64]:
    """Return the times of an event at the CPU of a host, ps, shape (n,)."""
    return times(lab.trace(), node, Part.HOST_CPU, event)

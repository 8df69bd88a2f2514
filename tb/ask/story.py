"""Life of one message in sentences: events of each stage, times, and resources waited for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pymodels.trace import Part, event_name, unit_name
from tb.ask.delays import Delay, Neighbours, total
from tb.report.life import Life
from tb.report.recorded import BOARD, Legend
from tb.report.stages import Stage, names_of_pc, stages_of
from tb.report.wire import Packet

PROCESSORS = (Part.HOST_CPU, Part.NIC_CPU)
DELAYS = 6
"""Maximum number of other messages named in a stage."""
LOSSES = 6
"""Maximum number of lost or damaged packets named."""
PATHS = 4
"""Maximum number of paths or functions named in a stage."""
BEFORE = ((0, Part.HOST_CPU), (1, Part.LINK), (1, Part.NET_RECV))
"""Places (side, part) of stages that end before that side's NIC has received the message."""


def story(life: Life, legend: Legend, beside: Neighbours) -> Iterator[str]:
    """Yield the lines of a message's life: a title, then each stage with its times and delays."""
    yield _title(life, legend)
    if life.cause is not None:
        after, first = _us(life.sent - life.first.sent), life.first.name(legend)
        yield f"The NIC of {legend.hosts[life.node]} generated it, {after} us after the call of {first}."
    if life.through is not None:
        after, cause = _us(life.sent - life.through.sent), life.through.name(legend)
        yield f"It is the result of a circuit, written {after} us after the call of {cause}."
    if len(life.pieces) > 1:
        yield f"It consists of {len(life.pieces)} packets; this is the last, for which its handler waits."
    yield from _losses(life, legend)
    yield from _calls(life, legend, beside)
    stages = stages_of(life)
    if not stages:
        yield from _unfinished(life, legend)
        return
    words, of_pc = _words(life, legend), names_of_pc(stages, legend)
    waited: list[tuple[int, str]] = []
    for stage in stages:
        delays = beside.delays(life, stage)
        waited += [(delay.end - delay.begin, str(delay)) for delay in delays]
        yield ""
        yield (
            f"{_us(stage.begin - life.sent)} to {_us(stage.end - life.sent)} us, {stage.name.replace('_', ' ')}, "
            f"{_us(stage.duration)} us{', measured by the PC' * (stage.name in of_pc)}"
        )
        yield f"  {_sentence(stage, words)}."
        yield from (f"  {line}." for line in _instructions(life, stage, beside))
        yield from (f"  {line}." for line in _functions(life, stage, beside, legend))
        yield from (f"  {line}." for line in _waiting(stage, delays))
    yield ""
    yield _end(life, sum(stage.duration for stage in stages), waited)
    if life.cause is not None:
        yield f"From the call of message {life.first.number} to here: {_us(stages[-1].end - life.first.sent)} us."
    yield from (f"A NIC generated for it: {made.name(legend)}." for made in life.made)
    if life.result is not None:
        yield f"The result of its circuit: {life.result.name(legend)}."


def _losses(life: Life, legend: Legend) -> Iterator[str]:
    """Yield the packets of the message that were lost or damaged, and how often a piece was transmitted."""
    failed = [packet for piece in life.pieces for packet in piece.packets if packet.lost or packet.syndrome]
    for packet in failed[:LOSSES]:
        how = "was lost" if packet.lost else f"arrived damaged, with CRC-8 syndrome {packet.syndrome:#04x}"
        yield f"A packet sent at {_us(packet.start - life.sent)} us {how}, {_way(packet, legend)}."
    if len(failed) > LOSSES:
        yield f"{len(failed) - LOSSES} more packets were lost or damaged."
    again = [piece.packets for piece in life.pieces if len(piece.packets) > 1 and not life.posted]
    if again:
        times, last = sum(map(len, again)) - len(again), max(packets[-1].start for packets in again)
        yield f"Retransmissions: {times}, the last at {_us(last - life.sent)} us."


def _calls(life: Life, legend: Legend, beside: Neighbours) -> Iterator[str]:
    """Yield the library calls of both applications when the message was sent and when it arrived."""
    ends = ((life.node, life.sent, "was sent"), (life.target, life.arrived, "arrived"))
    for node, time, what in ends:
        if node is not None and time is not None and (call := beside.call(node, time)):
            name, begin, end = call
            until = "has not returned" if end is None else f"returned {_from_send(end - life.sent)}"
            called = f"called {_from_send(begin - life.sent)}, {until}"
            yield f"When it {what}, {legend.hosts[node]} was in {name} ({called})."


def _from_send(after_ps: int) -> str:
    """Return a time relative to the send of the message, in words."""
    return f"{_us(abs(after_ps))} us {'before' if after_ps < 0 else 'after'} the send"


def _waiting(stage: Stage, delays: Sequence[Delay]) -> Iterator[str]:
    """Yield the longest delays in time order, then a summary of the others."""
    told = sorted(sorted(delays, key=lambda delay: delay.begin - delay.end)[:DELAYS], key=lambda delay: delay.begin)
    yield from (f"It {delay}" for delay in told)
    left = [delay for delay in delays if delay not in told]
    if left:
        yield f"It waited {_us(total(left))} us for {len(left)} others"
    rest = stage.duration - total(delays)
    if delays and rest > 0:
        yield f"In the other {_us(rest)} us no other packet blocked it"


def _title(life: Life, legend: Legend) -> str:
    latency = "never arrived" if life.latency is None else f"{_us(life.latency)} us"
    return f"{life.name(legend)}: sent at {_us(life.sent)} us, {latency}"


def _sentence(stage: Stage, words: dict[str, str]) -> str:
    text = stage.boundary.sentence.format(**words)
    return text[0].upper() + text[1:]


def _words(life: Life, legend: Legend) -> dict[str, str]:
    piece = life.pieces[-1]
    answers = [f"{kind} at {_us(packet.start - life.sent)} us" for kind, packet in piece.answers]
    return {
        "source": legend.hosts[life.node],
        "target": "no host" if life.target is None else legend.hosts[life.target],
        "bytes": f"{sum(one.size for one in life.pieces):,}",
        "way": _way(piece.packets[-1], legend) if piece.packets else "over the network",
        "answers": ", ".join(answers) or "no answer in the trace",
    }


def _way(packet: Packet, legend: Legend) -> str:
    """Return the switches on a packet's route, with the time from route byte to output."""
    hops = [
        f"{legend.switches[hop.switch][0]} (input {hop.input} to output {hop.output}"
        + (f", {_us(hop.grant - hop.head)} us)" if hop.grant is not None else ")")
        for hop in packet.hops
    ]
    return f"over {', '.join(hops)}" if hops else "over one cable"


def _instructions(life: Life, stage: Stage, beside: Neighbours) -> Iterator[str]:
    node = (life.node, life.target)[stage.side]
    if stage.part not in PROCESSORS or node is None:
        return
    paths = beside.instructions(node, stage.part, stage)
    if paths:
        yield f"Instructions: {_longest(paths)}"


def _functions(life: Life, stage: Stage, beside: Neighbours, legend: Legend) -> Iterator[str]:
    """Yield the firmware functions that the NIC executes in the stage."""
    node = (life.node, life.target)[stage.side]
    if legend.place == BOARD:  # a board does not record the functions
        return
    if node in legend.executing and (stage.side, stage.part) not in BEFORE:
        yield f"The NIC of {legend.hosts[node]} executes: {_longest(beside.functions(node, stage))}"


def _longest(spent: Sequence[tuple[str, int]]) -> str:
    """Return the total time and the longest parts of it."""
    told = [f"{name} {_us(time)}" for name, time in spent[:PATHS]]
    more = f" and {len(spent) - PATHS} more" if len(spent) > PATHS else ""
    return f"{_us(sum(time for _, time in spent))} us ({', '.join(told)}{more})"


def _unfinished(life: Life, legend: Legend) -> Iterator[str]:
    """Yield the last trace record of a message that did not arrive."""
    piece = life.pieces[-1] if life.pieces else None
    if piece is None or not piece.marks:
        yield "No part of it was written to the bus: its host still waits for room."
        return
    time, owner, event, *_ = piece.marks[-1]
    last = f"{event_name(event)} at {unit_name(owner)}, {_us(time)} us"
    yield f"It has not arrived. Its last record in the trace: {last}."


def _end(life: Life, whole: int, waited: list[tuple[int, str]]) -> str:
    text = f"Together {_us(whole)} us"
    if not waited:
        return f"{text}; it waited for no other packet."
    longest = max(waited)
    others = sum(duration for duration, _ in waited)
    return f"{text}, including {_us(others)} us of waiting; the longest: it {longest[1]}."


def _us(ps: float) -> str:
    return f"{ps / 1e6:.3f}"

"""Analysis of a run's trace for its page: stages of messages by size, and utilisation of each resource."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tb.report import tables
from tb.report.breakdown import Breakdown, breakdowns, names_of
from tb.report.lives import Lives
from tb.report.markup import bar, folded, html_table, keys
from tb.report.recorded import TRACE, read_recorded
from tb.report.stages import names_of_pc
from tb.report.tables import Table
from tb.report.use import RESOURCES, Use, uses
from tb.report.wire import rows

SOON = 400_000
"""Maximum number of trace records that are analysed after every run."""
PS_PER_US = 1e6


@dataclass(frozen=True)
class Analysis:
    """Analysis of a trace."""

    breakdowns: tuple[Breakdown, ...] = ()
    uses: tuple[Use, ...] = ()
    hosts: tuple[str, ...] = ()
    note: str = ""
    """Note for the page, such as the reason for a missing analysis."""
    of_pc: frozenset[str] = frozenset()
    """Names of the stages whose time is the PC's, in a run on a board."""


def analyse(folder: Path) -> Analysis:
    """Return the analysis of a run's trace; empty without a trace. Raises TraceError if the trace is unreadable."""
    if not (folder / TRACE).exists():
        return Analysis()
    recorded = read_recorded(folder)
    if len(recorded.trace) > SOON:
        return Analysis(note=f"the trace has {len(recorded.trace):,} records: too many to analyse after every run")
    records = rows(recorded.trace)
    lives = Lives(recorded.legend).take_all(records)
    note = f"the full trace dropped {recorded.legend.lost:,} records" if recorded.legend.lost else ""
    used = uses(recorded.legend, lives, records) if lives.wire.packets else []
    shown = tuple(breakdowns(lives.lives))
    of_pc = frozenset(name for one in shown for name in names_of_pc(one.stages, recorded.legend))
    return Analysis(shown, tuple(used), recorded.legend.hosts, note, of_pc)


def stages(analysis: Analysis) -> Iterator[str]:
    """Yield a bar for each kind and size of messages, and a table; numbers connect the two, not only colours."""
    shown, of_pc = analysis.breakdowns, analysis.of_pc
    if not shown:
        return
    names = names_of(shown)
    yield "<h2>Latency of a message by stage</h2>"
    text = "For each size the message of median latency, from send to its handler, divided at trace records"
    yield f'<p class="soft">{text}: the stages of a message add up to its latency.</p>'
    if of_pc:
        pc = "Stages marked (PC) begin or end in host software, whose time includes the PC and the serial line"
        yield f'<p class="soft">{pc}. All others are measured by the clocks of the board.</p>'
    longest = max(one.latency for one in shown)
    if len(shown) > 1:
        yield '<input type="checkbox" id="scale"> <label for="scale">common scale for all sizes</label>'
    for one in shown:
        parts = [(_label(name, one), _us(one, name) * PS_PER_US / one.latency) for name in names]
        yield f'<p class="of">{_which(one)}: {one.latency / PS_PER_US:,.3f} us</p>'
        said = f"{len(one.stages)} stages of a message of {one.life.size} bytes, in the table below"
        yield from bar(parts, said, one.latency / longest)
    headings = ("stage, us", *(_which(one) for one in shown))
    words = [name.replace("_", " ") + " (PC)" * (name in of_pc) for name in names]
    cells = tuple((word, *(f"{_us(one, name):,.3f}" for one in shown)) for word, name in zip(words, names, strict=True))
    sums = ("together", *(f"{one.latency / PS_PER_US:,.3f}" for one in shown))
    which = ("message number", *(str(one.life.number) for one in shown))
    many = ("messages of this kind", *(str(one.count) for one in shown))
    yield from html_table(Table(headings, (*cells, sums, which, many)), keys(len(names)), stacks=False)


def _which(one: Breakdown) -> str:
    return tables.size(one.life.size) + (f", {one.life.kind}" if one.life.kind else "")


def _us(one: Breakdown, name: str) -> float:
    return sum(stage.duration for stage in one.stages if stage.name == name) / PS_PER_US


def _label(name: str, one: Breakdown) -> str:
    us = _us(one, name)
    return f"{name.replace('_', ' ')}: {us:.3f} us, {tables.percent(us * PS_PER_US / one.latency)}"


def used(analysis: Analysis) -> Iterator[str]:
    """Yield a table with a row for each host and a column for each resource; cells are filled according to
    their share.
    """
    if not analysis.uses:
        return
    yield "<h2>Utilisation</h2>"
    yield '<p class="soft">Shares of the time from the first send to the end of the last message.</p>'
    yield from folded(_use_table(analysis), len(analysis.uses))


def _use_table(analysis: Analysis) -> Iterator[str]:
    heads = "".join(f"<th>{name}</th>" for name in ("host", *RESOURCES))
    yield f'<div class="wide"><table class="use"><thead><tr>{heads}</tr></thead><tbody>'
    for host, use in zip(analysis.hosts, analysis.uses, strict=True):
        cells = "".join(_cell(use.shares[name]) for name in RESOURCES)
        yield f"<tr><td>{escape(host)}</td>{cells}</tr>"
    yield "</tbody></table></div>"


def _cell(share: float) -> str:
    percent = tables.percent(share)
    return f'<td class="n" style="--share: {100 * share:.1f}%">{percent}</td>'

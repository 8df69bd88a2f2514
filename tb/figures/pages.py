"""Page of published and measured values, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import fill

from pymodels.published import Change, Published
from pymodels.results import Kind
from tb.figures.record import Interval
from tb.figures.rows import WORTH, Row, Verdict, glance, of_kind
from tb.report.markup import html_table, section
from tb.report.page import document
from tb.report.tables import KINDS, Table, number, percent

TITLE = "Published and measured"
HEADINGS = (
    *("value", "published", "first", "today", "error", "90 % interval", "required", "judgement", "changed", "source"),
    "command",
    "commit",
)
BELOW = ("source", "command", "commit")
"""Headings whose cells HTML shows below the name."""
WORDS = {Verdict.REPRODUCED: "good", Verdict.OUTSIDE: "bad"}
"""CSS classes of coloured judgements."""
NOTE = (
    "*First* is the result of the first run of the study, before any change in view of the figure; *recovered*: it "
    "was not recorded then, and is the oldest value on a page of this repository, or the result of the commit that "
    "added the study. *Changed*: the causes of later changes, listed at the end. *Interval*: the range of nine in ten "
    "draws of the assumed and calibrated values. *Required*: the agreement required in advance. A figure is "
    "*reproduced* when it is predicted, rebuilt for or estimated, its published value lies in its interval, and the "
    "interval spans no more than 15 % to either side; *outside*: the required agreement is not reached. Rows are "
    "sorted by kind, judgement and error. *Commit*: the measured sources."
)


def markdown(found: Sequence[Row], changes: Mapping[str, Change]) -> str:
    """Return the page as Markdown."""
    lines = [f"# {TITLE}", "", "Written by `make fidelity` from `pymodels/published.toml` and the last `make figures`;"]
    lines += ["this copy by `.venv/bin/sanlab fidelity`. Why values differ:"]
    lines += [
        "[figures](README.md).",
        "",
        *_table(Table(("summary", ""), tuple(glance(found)))),
        "",
        fill(NOTE, 120),
    ]
    for kind, group in _groups(found):
        lines += ["", f"## {kind.value.capitalize()}", "", f"{KINDS[kind].capitalize()}.", ""]
        lines += _table(Table(HEADINGS, tuple(cells(row) for row in group)))
    for heading, table in _appendix(found, changes):
        lines += ["", f"## {heading}", "", *_table(table)]
    return "\n".join([*lines, ""])


def html(found: Sequence[Row], changes: Mapping[str, Change]) -> str:
    """Return the page as one self-contained HTML file."""
    return document(TITLE, _body(found, changes))


def _body(found: Sequence[Row], changes: Mapping[str, Change]) -> Iterator[str]:
    yield f"<header><h1>{TITLE}</h1></header>"
    yield from html_table(Table(("", ""), tuple(glance(found)), words=2), headed=False)
    yield f'<p class="soft">{escape(NOTE).replace("*", "")}</p>'
    for kind, group in _groups(found):
        yield f"<h2>{kind.value.capitalize()}</h2>"
        yield f'<p class="soft">{escape(KINDS[kind].capitalize())}.</p>'
        yield from _html_rows(group)
    for heading, table in _appendix(found, changes):
        yield from section(heading, table)


def _html_rows(group: Sequence[Row]) -> Iterator[str]:
    """Yield the rows of one kind, with coloured judgement and drawn interval; source and command are below the name."""
    headings = tuple(head for head in HEADINGS if head not in BELOW)
    yield '<div class="wide"><table class="stacked fidelity">'
    yield f"<thead><tr>{''.join(f'<th>{head}</th>' for head in headings)}</tr></thead><tbody>"
    for row in group:
        texts = {head: escape(text) for head, text in zip(HEADINGS, cells(row), strict=True)}
        texts["value"] += f'<br><span class="soft">{texts["source"]}</span>'
        if texts["command"]:
            texts["value"] += f"<br><code>{texts['command'].replace('`', '')}</code> {texts['commit']}"
        if row.today and row.today.interval:
            texts["90 % interval"] += drawing(row.value, row.today.measured, row.today.interval)
        texts["judgement"] = f'<span class="{WORDS.get(row.verdict, "soft")}">{texts["judgement"]}</span>'
        data = (f'<td data-heading="{head}">{texts[head]}</td>' for head in headings)
        yield f"<tr>{''.join(data)}</tr>"
    yield "</tbody></table></div>"


def drawing(value: Published, measured: float, interval: Interval) -> str:
    """Return an SVG of the interval (bar), the measured value (line) and the published value (ring) on one scale."""
    points = (interval.low, interval.high, value.value, measured)
    least, span = min(points), (max(points) - min(points)) or 1.0
    low, high, ring, line = (6 + 108 * (point - least) / span for point in points)
    return (
        f'<svg class="interval" viewBox="0 0 120 14" width="120" height="14" role="img" '
        f'aria-label="published {number(value.value)}, interval {number(interval.low)} to {number(interval.high)}">'
        f'<rect x="{low:.1f}" y="4" width="{max(high - low, 1):.1f}" height="6" fill="var(--fill)"/>'
        f'<line x1="{line:.1f}" x2="{line:.1f}" y1="2" y2="12" stroke="var(--c0)" stroke-width="2"/>'
        f'<circle cx="{ring:.1f}" cy="7" r="4" fill="none" stroke="var(--c1)" stroke-width="2"/></svg>'
    )


def _groups(found: Sequence[Row]) -> Iterator[tuple[Kind, list[Row]]]:
    for kind in WORTH:
        group = of_kind(found, kind)
        if group:
            yield kind, group


def cells(row: Row) -> tuple[str, ...]:
    """Return a row as text, in the order of HEADINGS."""
    value, today = row.value, row.today
    interval = today.interval if today else None
    return (
        value.name + (f" (given {value.given})" if value.given else ""),
        f"{number(value.value)} {value.unit}",
        first_value(value),
        number(today.measured) if today else "-",
        percent(row.error) if today and value.value and row.verdict is not Verdict.BESIDE else "",
        f"{number(interval.low)} - {number(interval.high)}" if interval else "",
        required(value),
        row.verdict.value,
        ", ".join(value.changed),
        value.source,
        f"`{today.command}`" if today else "",
        today.commit[:8] if today else "",
    )


def first_value(value: Published) -> str:
    """Return the first measured value as text, "not recorded", or an empty text for a quoted value."""
    if value.first is None or isinstance(value.first, str):
        return "not recorded" if value.first else ""
    return number(value.first) + (" (recovered)" if value.recovered else "")


def required(value: Published) -> str:
    """Return the required agreement as text."""
    if value.within is None:
        return ""
    if isinstance(value.within, list):
        return " to ".join(map(number, value.within))
    return f"{100 * value.within:g} %" if value.within and value.value else "exactly"


def _appendix(found: Sequence[Row], changes: Mapping[str, Change]) -> Iterator[tuple[str, Table]]:
    """Yield the tables at the end of the page: inputs of the intervals, if any, and changes."""
    made = [(row.value.name, row.today.interval.made) for row in found if row.today and row.today.interval]
    if made:
        yield "Sources of the intervals", Table(("value", "draws, day, command"), tuple(made), words=2)
    used = {name for row in found for name in row.value.changed}
    changed = [(name, change.what, change.why) for name, change in changes.items() if name in used]
    yield "Changes", Table(("change", "content", "reason"), tuple(changed), words=3)


def _table(table: Table) -> list[str]:
    lines = [f"| {' | '.join(table.headings)} |", "|" + "---|" * len(table.headings)]
    return lines + [f"| {' | '.join(row)} |" for row in table.rows]

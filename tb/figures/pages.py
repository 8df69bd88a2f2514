"""Page of published and measured values, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from pymodels.published import Change, Published
from pymodels.published_roles import Scale
from pymodels.published_scores import unit
from tb.figures.calibration_section import html_section, text_section
from tb.figures.elements import filled, soft, text_table
from tb.figures.family_pictures import html_pictures, text_pictures
from tb.figures.held_out import Calibration
from tb.figures.record import Interval
from tb.figures.rows import Group, Row, Verdict, glance, of_group
from tb.figures.summary import Evidence, comparison, evidence, missing, nearest_table
from tb.report.markup import folded, html_table, section
from tb.report.page import document
from tb.report.strips import LEGEND, TEXT_LEGEND
from tb.report.tables import Table, number, percent

TITLE = "Published and measured"
HEADINGS = (
    *("value", "kind", "published", "first", "today", "compared", "error", "90 % interval", "required", "judgement"),
    *("changed", "source", "command", "commit"),
)
TRIVIAL = ("value", "reason", "published", "today", "judgement", "source")
"""Headings of the list of trivial rows."""
REASONS = {
    Group.TEST: "rows that condition no uncertain value; a row of kind structure had its firmware rebuilt for it",
    Group.TRAIN: "rows that condition the uncertain values of their family",
    Group.BOUND: "limits, orders and extremes, which a result meets or does not meet",
    Group.TRIVIAL: "rows that agree by construction, repeat another row, or measure an input again",
    Group.QUOTED: "for comparison only; a measured value next to it is not judged",
}
BELOW = ("source", "command", "commit")
"""Headings whose cells HTML shows below the name."""
WORDS = {Verdict.REPRODUCED: "good", Verdict.MET: "good", Verdict.OUTSIDE: "bad", Verdict.MISSED: "bad"}
"""CSS classes of coloured judgements."""
NOTE = (
    "*First* is the result of the first run of the study, before any change in view of the figure; *recovered*: it "
    "was not recorded then, and is the oldest value on a page of this repository, or the result of the commit that "
    "added the study. *Changed*: the causes of later changes, listed at the end. *Interval*: the range of nine in ten "
    "draws of the assumed and calibrated values. *Required*: the agreement required in advance. A figure is "
    "*reproduced* when it is predicted, rebuilt for or estimated, its published value lies in its interval, and the "
    "interval spans no more than 15 % to either side; *outside*: the required agreement is not reached. *Compared*: "
    "the scale of the error where it is not the value: a ratio of times as gain (ratio - 1), a speed-up as overhead "
    "(processes / speed-up - 1), a half bandwidth as the bandwidth at the published size. A bound is *met* or *not "
    "met* and has no error. Rows are sorted by role, kind, judgement and error. *Commit*: the measured sources. Roles, "
    "deviations and classes of discrepancy are defined at the head of `pymodels/published.toml`."
)


COMPARED = (
    "Errors and widths are medians. *Held out*: the row is predicted from the other tables of its family, after `make "
    "calibrate` has conditioned the assumed values on them. *Inside 90 %*: the published values in the held-out "
    "interval of 90 %. *Width*: the width of this interval relative to the published value. *Times and bandwidths*: "
    "rows whose score is a time or a rate. *Today*: the results of the profiles as they are, some of whose values are "
    "calibrated. *Null model*: the published value of the nearest other system. A dash means that the group, or a row "
    "of it, lacks the value."
)
PICTURES = (
    "All values are divided by the published one, on the scale of the comparison, on a logarithmic axis ({legend}). "
    "The interval is that of the held-out prediction, or of `make uncertainty` where the row has none. Below a row is "
    "its held-out prediction, and the three uncertain values that decide it, with total Sobol indices."
)
NULL = (
    "The other system is chosen by rule (`tb/figures/nearest.py`): a value of the same quantity that the paper prints "
    "for a system without a model, else the row of the same quantity and paper for another system that shares most "
    "with the row."
)


def markdown(
    found: Sequence[Row], changes: Mapping[str, Change], calibrations: Mapping[str, Calibration] | None = None
) -> str:
    """Return the page as Markdown.

    Args:
        found: All rows, in their order.
        changes: Changes by name.
        calibrations: Calibrations by family.
    """
    known = evidence(found, calibrations or {})
    lines = [f"# {TITLE}", "", "Written by `make fidelity` from `pymodels/published.toml` and the last `make figures`;"]
    lines += ["this copy by `.venv/bin/sanlab fidelity`. Why values differ:", "[figures](README.md).", ""]
    lines += [*text_table(comparison(known)), "", *filled(COMPARED)]
    for sentence in missing(known):
        lines += ["", *filled(sentence)]
    lines += text_section(known)
    lines += ["", "## Families", "", *filled(PICTURES.format(legend=TEXT_LEGEND)), *text_pictures(known)]
    if trivial := of_group(found, Group.TRIVIAL):
        lines += _markdown_group(Group.TRIVIAL, _trivial(trivial))
    lines += ["", "## Nearest other systems", "", *filled(NULL), "", *text_table(nearest_table(known))]
    lines += ["", "## All rows", "", *text_table(Table(("summary", ""), tuple(glance(found)))), "", *filled(NOTE)]
    for group, members in _listed(found):
        lines += _markdown_group(group, Table(HEADINGS, tuple(map(cells, members))))
    for heading, table in _appendix(found, changes):
        lines += ["", f"## {heading}", "", *text_table(table)]
    return "\n".join([*lines, ""])


def _markdown_group(group: Group, table: Table) -> list[str]:
    return ["", f"## {group.value}", "", f"{REASONS[group].capitalize()}.", "", *text_table(table)]


def html(
    found: Sequence[Row], changes: Mapping[str, Change], calibrations: Mapping[str, Calibration] | None = None
) -> str:
    """Return the page as one self-contained HTML file; arguments as for `markdown`."""
    return document(TITLE, _body(evidence(found, calibrations or {}), changes))


def _body(known: Evidence, changes: Mapping[str, Change]) -> Iterator[str]:
    found = known.rows
    yield f"<header><h1>{TITLE}</h1></header>"
    yield from html_table(comparison(known))
    yield from (soft(text) for text in (COMPARED, *missing(known)))
    yield from html_section(known)
    yield "<h2>Families</h2>"
    yield soft(PICTURES.format(legend=LEGEND))
    yield from html_pictures(known)
    if trivial := of_group(found, Group.TRIVIAL):
        yield from _heading(Group.TRIVIAL)
        yield from folded(html_table(_trivial(trivial)), len(trivial))
    yield "<h2>Nearest other systems</h2>"
    yield soft(NULL)
    yield from html_table(nearest_table(known))
    yield "<h2>All rows</h2>"
    yield from html_table(Table(("", ""), tuple(glance(found)), words=2), headed=False)
    yield soft(NOTE)
    for group, members in _listed(found):
        yield from _heading(group)
        yield from _html_rows(members)
    for heading, table in _appendix(found, changes):
        yield from section(heading, table)


def _heading(group: Group) -> Iterator[str]:
    yield f"<h2>{group.value}</h2>"
    yield soft(f"{REASONS[group].capitalize()}.")


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


def _listed(found: Sequence[Row]) -> Iterator[tuple[Group, list[Row]]]:
    """Yield the groups with rows, without the trivial rows, which are listed before."""
    for group in Group:
        members = of_group(found, group)
        if members and group is not Group.TRIVIAL:
            yield group, members


def _trivial(members: Sequence[Row]) -> Table:
    """Return the list of trivial rows: the reason of each, and whether it agrees."""
    lines = (
        (
            row.value.name,
            f"follows from: {row.value.duplicate_of}" if row.value.duplicate_of else row.value.role.value,
            f"{number(row.value.value)} {row.value.unit}",
            number(row.today.measured) if row.today else "-",
            row.verdict.value,
            row.value.source,
        )
        for row in members
    )
    return Table(TRIVIAL, tuple(lines), words=2)


def compared(row: Row) -> str:
    """Return the published and the measured value on the scale of the comparison, or an empty text for the value
    itself.
    """
    if row.value.scored is Scale.VALUE or row.today is None:
        return ""
    return f"{unit(row.value)} {number(row.published)}, {number(row.on_scale(row.today.measured))}"


def cells(row: Row) -> tuple[str, ...]:
    """Return a row as text, in the order of HEADINGS."""
    value, today = row.value, row.today
    interval = today.interval if today else None
    return (
        value.name + (f" (given {', '.join(value.given)})" if value.given else ""),
        value.kind.value,
        f"{number(value.value)} {value.unit}",
        first_value(value),
        number(today.measured) if today else "-",
        compared(row),
        percent(row.error) if today and row.published and row.group not in (Group.BOUND, Group.QUOTED) else "",
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

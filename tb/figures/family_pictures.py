"""Pictures of the rows of each family: published value, interval, today's default and first run, a row a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import wrap

from pymodels.published import load_families
from pymodels.published_scores import unit
from tb.figures.rows import Group, Row, Verdict
from tb.figures.summary import Evidence, decided_by, told_held_out
from tb.report.strips import Axis, Marks, axis, ruler, strip, text_ruler, text_strip
from tb.report.tables import number

NAME, VALUE, TODAY = 42, 19, 10
"""Widths of the columns of a picture as text."""
NO_RATIO = '<span class="soft">no ratio to 0</span>'
DRAWN = (Group.TEST, Group.TRAIN)
ROLES = {Group.TEST: "prediction", Group.TRAIN: "conditions values"}


def members(known: Evidence) -> dict[str, list[Row]]:
    """Return the drawn rows by family, in the order of the families: measured predictions and conditioning rows."""
    found = {
        name: [row for row in known.rows if row.value.family == name and row.group in DRAWN and row.today]
        for name in load_families()
    }
    return {name: rows for name, rows in found.items() if rows}


def marks(row: Row, known: Evidence) -> Marks:
    """Return the marks of a row as ratios of scores; the interval is the held-out one if there is one."""
    scale = row.published
    if not scale or not math.isfinite(scale):
        return Marks()
    held, interval = known.held.get(row.value.name), row.today.interval if row.today else None
    ends: tuple[float | None, float | None] = (None, None)
    if held:
        ends = held.low, held.high
    elif interval:
        low, high = sorted(map(row.on_scale, (interval.low, interval.high)))
        ends = low, high
    today = row.on_scale(row.today.measured) if row.today else None
    first = row.on_scale(row.value.first_value) if row.value.first_value is not None else None
    return Marks(*(_ratio(one, scale) for one in (today, first, *ends)))


def _ratio(score: float | None, published: float) -> float | None:
    return None if score is None or not math.isfinite(score) else score / published


def bounds(known: Evidence, family: str) -> str:
    """Return the bounds and orders of a family as a sentence, or an empty text without any."""
    rows = [row for row in known.rows if row.value.family == family and row.group is Group.BOUND and row.today]
    if not rows:
        return ""
    missed = [row.value.name for row in rows if row.verdict is Verdict.MISSED]
    names = f"; not met: {'; '.join(missed)}" if missed else ""
    return f"Bounds and orders met: {len(rows) - len(missed)} of {len(rows)}{names}."


def text_pictures(known: Evidence) -> Iterator[str]:
    """Yield the lines of the pictures in Markdown: a heading and a block of text for each family."""
    families = load_families()
    for name, rows in members(known).items():
        yield from ("", f"### {name}: {families[name].what}", "", "```text")
        yield from _block(rows, known)
        yield "```"
        if told := bounds(known, name):
            yield from ("", *wrap(told, 120, break_long_words=False))


def _block(rows: Sequence[Row], known: Evidence) -> Iterator[str]:
    drawn = {row.value.name: marks(row, known) for row in rows}
    on = axis(drawn.values())
    yield f"{'':{NAME}} {'published':>{VALUE}} {text_ruler(on)} {'measured':>{TODAY}}"
    for row in rows:
        first, *more = wrap(row.value.name, NAME, break_long_words=False)
        one, published = drawn[row.value.name], f"{number(row.published)} {unit(row.value)}"
        yield f"{first:{NAME}} {published:>{VALUE}} {text_strip(one, on)} {_today(row):>{TODAY}}"
        yield from more
        if held := known.held.get(row.value.name):
            yield f"    held out {told_held_out(row, held)}"
            yield f"    decided by {decided_by(held)}"


def _today(row: Row) -> str:
    return number(row.on_scale(row.today.measured)) if row.today else "-"


def html_pictures(known: Evidence) -> Iterator[str]:
    """Yield the pictures as HTML: a heading and a table for each family."""
    families = load_families()
    for name, rows in members(known).items():
        yield f'<h3 id="family-{escape(name)}">{escape(name)}: {escape(families[name].what)}</h3>'
        yield from strip_table(rows, known)
        if told := bounds(known, name):
            yield f'<p class="soft">{escape(told)}</p>'


def strip_table(rows: Sequence[Row], known: Evidence) -> Iterator[str]:
    """Yield rows as a table: name with role and judgement, published value, marks on a common axis, measured value.

    Args:
        rows: Rows, in their order.
        known: Evidence with the held-out predictions.
    """
    drawn: Mapping[str, Marks] = {row.value.name: marks(row, known) for row in rows}
    on: Axis = axis(drawn.values())
    ends = f"ratio {on.ticks[0]:g} to {on.ticks[-1]:g}"
    yield '<div class="wide"><table class="stacked strips"><thead><tr><th>value</th><th class="n">published</th>'
    yield f'<th>{ruler(on)}</th><th class="n">measured</th></tr></thead><tbody>'
    for row in rows:
        held = known.held.get(row.value.name)
        told = [f"held out {told_held_out(row, held)}", f"decided by {decided_by(held)}"] if held else []
        published, today = f"{number(row.published)} {unit(row.value)}", _today(row)
        label = f"published {published}, measured {today}" + (f", {told[0]}" if told else "")
        below = "".join(f'<br><span class="soft">{escape(text)}</span>' for text in told)
        drawing = strip(drawn[row.value.name], on, label) if row.published else NO_RATIO
        yield f'<tr><td>{escape(row.value.name)}<br><span class="soft">{_told(row)}</span>{below}</td>'
        yield f'<td class="n" data-heading="published">{escape(published)}</td>'
        yield f'<td data-heading="{escape(ends)}">{drawing}</td>'
        yield f'<td class="n" data-heading="measured">{escape(today)}</td></tr>'
    yield "</tbody></table></div>"


def _told(row: Row) -> str:
    """Return role, kind and judgement of a row as markup."""
    role = ROLES.get(row.group, row.value.role.value.replace("_of", ""))
    word = {Verdict.OUTSIDE: "bad", Verdict.MISSED: "bad"}.get(row.verdict)
    verdict = f'<span class="{word}">{row.verdict.value}</span>' if word else row.verdict.value
    return f"{escape(role)}, {row.value.kind.value}, {verdict}"

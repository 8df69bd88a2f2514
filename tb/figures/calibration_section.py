"""Section of the page of fidelity with calibrations, narrowed values, and misses, in Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tb.figures.calibration_tables import (
    calibration_table,
    family_table,
    narrowing,
    number_table,
    skipped,
    unmet,
    value_table,
)
from tb.figures.elements import filled, soft, text_table
from tb.figures.held_out import Calibration
from tb.figures.misses import miss_table
from tb.figures.summary import Evidence
from tb.report.markup import html_table

CALIBRATED = (
    "One line for each family that `make calibrate` has calibrated. *Values*: uncertain values. *Space left*: the "
    "share of all ranges that no conditioning row excludes after the last wave. *Implausibility*: the greatest "
    "distance of a run to a conditioning row in standard deviations, first for the values of the profile, then for "
    "the best point. *Plausible points*: points whose runs have an implausibility of at most 3. *Error* and *width* "
    "are medians over the held-out rows. A row that no point meets was misread, or a mechanism is missing."
)
NARROWED = (
    "Values that the published rows narrow most, at most eight a family. *Ratio of widths*: the width of the interval "
    "of 90 % after conditioning, divided by that of the range; a value below 0.8 is narrowed. A range of several "
    "profiles is that of the first one."
)
MISSES = (
    "Held-out rows whose published value lies outside the interval of 90 %, with the mechanism that the model lacks, "
    "the test of this explanation, and its result. Values are on the scale of the comparison."
)
NO_MISS = "The published value of each held-out row lies inside its interval of 90 %."


def text_section(known: Evidence) -> list[str]:
    """Return the lines of the section in Markdown; none without a calibration."""
    if not known.calibrations:
        return []
    calibrations = list(known.calibrations.values())
    lines = ["", "## Calibrations", "", *text_table(calibration_table(calibrations)), "", *filled(CALIBRATED)]
    for sentence in skipped(calibrations):
        lines += ["", *filled(sentence)]
    if values := family_table(calibrations):
        lines += ["", *text_table(values), "", *filled(NARROWED)]
    lines += ["", *filled(f"{'; '.join(map(narrowing, calibrations))}.")]
    return [*lines, *_text_misses(known)]


def _text_misses(known: Evidence) -> list[str]:
    if not known.held:
        return []
    table = miss_table(known.rows, known.held, known.misses)
    told = [*filled(MISSES), "", *text_table(table)] if table else filled(NO_MISS)
    return ["", "## Misses", "", *told]


def html_section(known: Evidence) -> Iterator[str]:
    """Yield the section in HTML; nothing without a calibration."""
    if not known.calibrations:
        return
    calibrations = list(known.calibrations.values())
    yield "<h2>Calibrations</h2>"
    yield from html_table(number_table(calibrations))
    yield from map(soft, (*unmet(calibrations), *skipped(calibrations), CALIBRATED, NARROWED))
    for one in calibrations:
        yield from _html_values(one)
    yield from _html_misses(known)


def _html_values(one: Calibration) -> Iterator[str]:
    """Yield the narrowed values of a family with command and commit, folded."""
    yield f"<details><summary>{escape(narrowing(one))}</summary>"
    yield soft(f"`{one.command}` {one.commit[:8]}")
    if table := value_table(one):
        yield from html_table(table)
    yield "</details>"


def _html_misses(known: Evidence) -> Iterator[str]:
    if not known.held:
        return
    table = miss_table(known.rows, known.held, known.misses)
    yield "<h2>Misses</h2>"
    yield soft(MISSES if table else NO_MISS)
    if table:
        yield from html_table(table)

"""Markdown table of the results of `make explore` for a layer's worlds.

Each search leaves one JSON file. The table is generated from these files alone, so that each number on the page was
counted by a search.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tb.explore.situation import Outcome
from tb.tools.paths import OUT

FOLDER = OUT / "explore"
HEADINGS = ("world", "what happens", "verdict", "situations", "states", "nodes", "depth", "s")
NUMBERS = 5
"""Number of numeric columns, which are the last ones."""


def record(outcome: Outcome, verdict: str) -> dict[str, Any]:
    """Return the counts of a search; times are in seconds."""
    return {
        "world": outcome.world.name,
        "question": outcome.world.question,
        "verdict": verdict,
        "exhausted": outcome.exhausted,
        "situations": outcome.situations,
        "transitions": outcome.transitions,
        "states": outcome.states,
        "nodes": list(outcome.nodes),
        "parts": list(outcome.places),
        "depth": outcome.depth,
        "seconds": outcome.seconds,
        "processor_s": outcome.processor_s,
    }


def keep(layer: str, outcome: Outcome, verdict: str) -> None:
    """Write the record of a world, replacing an older one."""
    path = FOLDER / layer / f"{outcome.world.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record(outcome, verdict), indent=1) + "\n", encoding="utf-8")


def kept(layer: str) -> dict[str, Mapping[str, Any]]:
    """Return the records of a layer by world."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in sorted((FOLDER / layer).glob("*.json")))
    return {one["world"]: one for one in found}


def lines(worlds: Iterable[tuple[str, str]], records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of the table, one for each world (name, question); worlds without a record are "not
    searched".
    """
    head = [_line(HEADINGS), _line(["---"] * (len(HEADINGS) - NUMBERS) + ["---:"] * NUMBERS)]
    return head + [_line(_cells(name, question, records.get(name))) for name, question in worlds]


def _cells(name: str, question: str, found: Mapping[str, Any] | None) -> list[str]:
    if found is None:
        return [f"`{name}`", question, "not searched", *[""] * NUMBERS]
    above = "" if found["exhausted"] or found["verdict"].startswith("found") else "over "
    counts = [f"{above}{found[one]:,}" for one in ("situations", "states")]
    nodes = "+".join(f"{count:,}" for count in found["nodes"])
    numbers = [*counts, nodes, str(found["depth"]), f"{found['processor_s']:,.0f}"]
    return [f"`{name}`", question, found["verdict"], *numbers]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"

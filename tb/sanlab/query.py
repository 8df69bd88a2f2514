"""`sanlab query WHAT`: answers to the library's queries, as JSON. Runs in the tree."""

from __future__ import annotations

import json
import sys
from typing import Any

from pymodels.errors import SanlabError
from pymodels.profiles import parse_settings
from pymodels.trace import TraceEvent
from tb.plan import studies
from tb.plan.declared import StudyError
from tb.plan.described import settings_of
from tb.report.terminal import complain


def answer(what: str, *about: str) -> dict[str, Any]:
    """Return the answer to a query of `ask.py`. Raises SanlabError for an unknown study or profile."""
    if what == "options":
        study, profile, settings = about
        info = studies.load(study).chosen(parse_settings(settings))
        return {one.name: {**one.plain(), "values": one.values} for one in settings_of(info, profile)}
    if what == "events":
        return {event.name: int(event) for event in TraceEvent}
    return {name: _study(name) for name in studies.names()}


def _study(name: str) -> dict[str, Any]:
    try:
        info = studies.load(name)
    except StudyError as error:
        return {"question": f"(cannot be loaded: {error})", "options": {}}
    options = {key: {"default": one.default, "meaning": one.meaning} for key, one in info.options.items()}
    return {"question": info.question, "options": options}


if __name__ == "__main__":
    try:
        print(json.dumps(answer(*sys.argv[1:])))
    except SanlabError as refused:
        complain(str(refused))
        sys.exit(refused.exit_code)

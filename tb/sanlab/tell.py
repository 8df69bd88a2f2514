"""`sanlab tell WHAT`: what the library asks of the laboratory, as JSON. Runs in the tree."""

from __future__ import annotations

import json
import sys
from typing import Any

from pymodels.trace import TraceEvent
from tb.plan import studies


def told(what: str) -> dict[str, Any]:
    """The answer to a question of `ask.py`."""
    if what == "events":
        return {event.name: int(event) for event in TraceEvent}
    return {name: _study(name) for name in studies.names()}


def _study(name: str) -> dict[str, Any]:
    info = studies.load(name)
    options = {key: {"default": one.default, "meaning": one.meaning} for key, one in info.options.items()}
    return {"question": info.question, "options": options}


if __name__ == "__main__":
    print(json.dumps(told(sys.argv[1])))

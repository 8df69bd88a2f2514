"""What the laboratory knows, asked in a child process: studies with their settings, events of the trace."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from .child import call
from .errors import SanlabError


def studies() -> dict[str, dict[str, Any]]:
    """Every study by name: its `question`, and its `options` with default and meaning."""
    return _asked("studies")


@cache
def events() -> dict[str, int]:
    """The numbers of the trace's events, by name."""
    return _asked("events")


def _asked(what: str) -> dict[str, Any]:
    ended = call(["tell", what])
    if ended.code:
        raise SanlabError(ended.err.strip(), ended.code)
    told: dict[str, Any] = json.loads(ended.out)
    return told

"""Queries to the laboratory, each in a child process: studies, settings, trace events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from .child import call
from .errors import RefusedError, SanlabError
from .markup import table
from .settings import REFUSED, Setting, words

COLUMNS = ("name", "default", "values", "unit", "group", "meaning")


class Options(dict[str, dict[str, Any]]):
    """Settings of a study by name; `print` and notebooks show a table.

    Each value has the keys `name`, `group`, `type`, `low` and `high` or `choices`, `values` (the range as text),
    `unit`, `default` and `meaning`. A group is, for example, `study`, `layer grim`, `every study` or `profile
    lanai9+p3-450`.
    """

    def __str__(self) -> str:
        return "\n".join(f"{name}={one['default']}  {one['meaning']} [{one['values']}]" for name, one in self.items())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return table(COLUMNS, ([one[column] for column in COLUMNS] for one in self.values()))


def studies() -> dict[str, dict[str, Any]]:
    """Return every study by name: its `question`, and its own `options` with default and meaning."""
    return _query("studies")


def options(
    study: str, settings: Mapping[str, Setting] | None = None, /, *, profile: str = "", **chosen: Setting
) -> Options:
    """Return all settings that a run of a study accepts, by name.

    The settings are those of the study, of its message layers, and of every study (`run.*`, `fault.*`, ...). The values
    of the hardware profile (`link.slack`, ...) are settings, too.

    Args:
        study: Name of the study.
        settings: Settings that affect other settings, such as `{"layer": "via"}`; also accepted by name.
        profile: Name of the hardware profile; the default profile if empty.
        **chosen: Further settings by name.

    Raises:
        RefusedError: The study or the profile is unknown.
    """
    return Options(_query("options", study, profile, words({**(settings or {}), **chosen})))


@cache
def events() -> dict[str, int]:
    """Return the numbers of the trace events by name."""
    return _query("events")


def _query(what: str, *about: str) -> dict[str, Any]:
    ended = call(["query", what, *about])
    if ended.code:
        kind = RefusedError if ended.code == REFUSED else SanlabError
        raise kind(ended.err.strip(), ended.code)
    answer: dict[str, Any] = json.loads(ended.out)
    return answer

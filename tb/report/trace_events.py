"""Trace event format of Perfetto and Chrome's viewer: JSON objects for spans, counters and flow arrows.

Format: "Trace Event Format", Google, public document of the Chromium project. Its times are microseconds; they are
written with six decimal places, so that no picosecond is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

Place = tuple[int, int]
"""Process and thread."""


class TraceEvents:
    """Collection of events; `parts` returns the file."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._names: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def process(self, number: int, name: str, order: int) -> None:
        """Name a process and set its vertical order."""
        for kind, value in (("process_name", {"name": name}), ("process_sort_index", {"sort_index": order})):
            self._add({"ph": "M", "pid": number, "tid": 0, "name": kind, "args": value})

    def thread(self, place: Place, name: str) -> None:
        """Name a thread of a process; threads are ordered by number."""
        for kind, value in (("thread_name", {"name": name}), ("thread_sort_index", {"sort_index": place[1]})):
            self._add({"ph": "M", "pid": place[0], "tid": place[1], "name": kind, "args": value})

    def span(self, place: Place, name: str, begin: int, end: int, told: str = "") -> None:
        """Add a span.

        Args:
            place: Process and thread.
            name: Name of the span.
            begin: Begin in ps.
            end: End in ps.
            told: JSON members shown when the span is selected.
        """
        self._lines.append(
            f'{{"ph":"X","pid":{place[0]},"tid":{place[1]},"ts":{begin / 1e6:.6f},"dur":{(end - begin) / 1e6:.6f}'
            f',"name":{self._quoted(name)}{told and f",{_ARGS}{{{told}}}"}}}'
        )

    def counter(self, process: int, name: str, time: int, value: float) -> None:
        """Set a counter of a process to a value from `time` on."""
        self._lines.append(
            f'{{"ph":"C","pid":{process},"tid":0,"ts":{time / 1e6:.6f},"name":{self._quoted(name)}'
            f',"args":{{"value":{value:g}}}}}'
        )

    def flow(self, number: int, name: str, points: Iterable[tuple[Place, int]]) -> None:
        """Add an arrow through the spans at these places and times; nothing for fewer than two points."""
        listed = list(points)
        for index, (place, time) in enumerate(listed if len(listed) > 1 else ()):
            phase = "s" if not index else "f" if index == len(listed) - 1 else "t"
            self._lines.append(
                f'{{"ph":"{phase}","pid":{place[0]},"tid":{place[1]},"ts":{time / 1e6:.6f},"id":{number}'
                f',"cat":"message","name":{self._quoted(name)},"bp":"e"}}'
            )

    def parts(self, about: dict[str, str]) -> Iterator[bytes]:
        """Yield the file in parts; `about` has the information that the viewer shows about the file."""
        yield f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":[\n'.encode()
        for at in range(0, len(self._lines), PART):
            last = at + PART >= len(self._lines)
            yield (",\n".join(self._lines[at : at + PART]) + ("\n" if last else ",\n")).encode()
        yield b"]}\n"

    def _add(self, event: dict[str, object]) -> None:
        self._lines.append(json.dumps(event))

    def _quoted(self, name: str) -> str:
        quoted = self._names.get(name)
        if quoted is None:
            quoted = self._names[name] = json.dumps(name)
        return quoted


PART = 10_000
"""Number of events in a part of the file."""
_ARGS = '"args":'

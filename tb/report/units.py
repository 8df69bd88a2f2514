"""Units of metrics, by words of their names: `one_way_us_64B` is in us, `bandwidth_MBps` in MB/s."""

from __future__ import annotations

WORDS = {
    "MBps": "MB/s",
    "percent": "%",
    "ps": "ps",
    "ns": "ns",
    "us": "us",
    "ms": "ms",
    "clocks": "clocks",
    "bytes": "B",
}
"""Unit by word of a name; the first match applies."""
RATE = ("per", "s")
"""Words of a rate, such as `messages_per_s`."""


def unit_of(metric: str) -> str:
    """Return the unit of a metric; empty if its name has none."""
    words = metric.split("_")
    if any(tuple(words[at : at + 2]) == RATE for at in range(len(words))):
        return "1/s"
    return next((unit for word, unit in WORDS.items() if word in words), "")

"""Tables, figures and sections of the papers in their own order: reader of `papers.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError, nearest
from pymodels.published import Published
from pymodels.toml import read_toml
from tb.figures.nearest import paper

FILE = Path(__file__).with_name("papers.toml")
PLACE = ("paper", "place", "title", "says")
OPTIONAL = ("tables", "runs", "figure")


@dataclass(frozen=True)
class Curve:
    """Curves of one run: name of the run, pattern of the series, and label; a `*` stands for any words."""

    run: str
    series: str
    label: str

    def matched(self, name: str) -> str | None:
        """Return the label of a series, or None if the pattern does not match its name."""
        before, star, after = self.series.partition("*")
        if not star:
            return (self.label or _words(name)) if name == self.series else None
        if len(name) < len(before) + len(after) or not (name.startswith(before) and name.endswith(after)):
            return None
        return f"{self.label} {_words(name[len(before) : len(name) - len(after)])}".strip()


@dataclass(frozen=True)
class Drawing:
    """Drawing of one place: title and curves."""

    title: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Place:
    """Table, figure or section of a paper.

    Attributes:
        paper: Number of the paper.
        place: Its name in the paper.
        title: What is measured.
        says: Statement of the paper, in one line.
        tables: Tables of the published rows that belong to it.
        runs: Further runs that measure it.
        drawings: Drawings of curves.
    """

    paper: str
    place: str
    title: str
    says: str
    tables: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    drawings: tuple[Drawing, ...] = ()

    def has(self, value: Published) -> bool:
        """Return True if a published row belongs to the place."""
        return paper(value) == self.paper and value.table in self.tables


@dataclass(frozen=True)
class Papers:
    """Titles of the papers by number, and their places, both in the order of the page."""

    titles: Mapping[str, str]
    places: tuple[Place, ...]

    def of(self, number: str) -> list[Place]:
        """Return the places of a paper."""
        return [one for one in self.places if one.paper == number]

    def missing(self, values: Iterable[Published]) -> list[Published]:
        """Return the published rows that belong to no place."""
        return [one for one in values if not any(place.has(one) for place in self.places)]


def load_papers(path: Path = FILE) -> Papers:
    """Return papers and places. Raises ConfigError for an incomplete entry or an unknown paper."""
    data, text = read_toml(path)
    titles = {one["number"]: one["title"] for one in data.get("paper", [])}
    starts = [at for at, line in enumerate(text.splitlines(), 1) if line.strip() == "[[place]]"]
    places = [_place(path, line, one, titles) for line, one in zip(starts, data.get("place", []), strict=True)]
    return Papers(titles, tuple(places))


def _place(path: Path, line: int, entry: Mapping[str, Any], titles: Mapping[str, str]) -> Place:
    missing = [key for key in PLACE if not isinstance(entry.get(key), str)]
    unknown = [key for key in entry if key not in (*PLACE, *OPTIONAL)]
    if missing or unknown:
        cause = f"missing {', '.join(missing)}" if missing else f"unknown {', '.join(unknown)}"
        raise ConfigError(str(path), line, "invalid place", cause, f"write {', '.join(PLACE)}")
    if entry["paper"] not in titles:
        raise ConfigError(str(path), line, "unknown paper", repr(entry["paper"]), nearest(entry["paper"], titles))
    try:
        drawings = tuple(_drawing(one) for one in entry.get("figure", []))
    except (KeyError, TypeError) as error:
        remedy = "write title and curves = [[run, series, label], ...]"
        raise ConfigError(str(path), line, "invalid drawing", f"{entry['place']}: {error}", remedy) from None
    number, name, title, says = (entry[key] for key in PLACE)
    return Place(number, name, title, says, tuple(entry.get("tables", [])), tuple(entry.get("runs", [])), drawings)


def _drawing(entry: Mapping[str, Any]) -> Drawing:
    return Drawing(entry["title"], tuple(Curve(*one) for one in entry["curves"]))


def _words(name: str) -> str:
    return name.replace("_", " ").strip()

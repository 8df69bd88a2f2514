"""Selection of the seeds of the fuzz tests: `python -m tests.unit.fuzz.choose_seeds` writes SEEDS.

The first seeds of each layer run where their charges are counted (`fuzzed.COUNTED`). Of the seeds up to OF, the one
that reaches most new branches of the firmware, hosts and NICs is added repeatedly. Further seeds are added in order up
to LEAST.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from pymodels.results import write_atomically
from tb.fuzz import trial
from tb.fuzz.reach import Watch
from tb.tools.paths import ROOT
from tests.unit.fuzz.fuzzed import COUNTED, OF, OTHERS, SEEDS

LEAST = 10
"""Seeds of a layer that run."""
Branch = tuple[str, int, int]


def reached(layer: str, seed: int) -> frozenset[Branch]:
    """Return the arcs that a program executes, with their files."""
    with Watch(ROOT / "firmware") as watch:
        trial.on_machine(layer, trial.drawn(layer, seed)[0])
    return frozenset((file, *arc) for file, arcs in watch.arcs().items() for arc in arcs)


def fewest(known: frozenset[Branch], seeds: Mapping[int, frozenset[Branch]]) -> list[int]:
    """Seeds that reach, with what is known, all that any of them reaches."""
    chosen: list[int] = []
    while left := {seed: len(own - known) for seed, own in seeds.items() if own - known}:
        best = max(left, key=lambda seed: (left[seed], -seed))
        known |= seeds[best]
        chosen.append(best)
    return sorted(chosen)


def filled(chosen: list[int], first: int) -> list[int]:
    """These and, where they are fewer than LEAST with the `first` ones, the next ones in order."""
    rest = [seed for seed in range(first, first + LEAST) if seed not in chosen]
    return sorted(chosen + rest[: max(0, LEAST - first - len(chosen))])


def shown(layer: str, seeds: list[int]) -> str:
    """Return the seeds of a layer as lines of SEEDS."""
    return textwrap.fill(f"{layer} = {seeds}", 120, subsequent_indent="  ") + "\n"


def main() -> None:
    """Select the seeds of all layers."""
    lines = [f"# Written by `python -m {__spec__.name}`: seeds of the fuzz, beside the first ones, by layer.\n"]
    for layer in trial.names():
        count, first = OF.get(layer, OTHERS), COUNTED.get(layer, 0)
        begun = frozenset[Branch]().union(*(reached(layer, seed) for seed in range(first)))
        chosen = filled(fewest(begun, {seed: reached(layer, seed) for seed in range(first, count)}), first)
        lines.append(shown(layer, chosen))
        print(f"{layer}: {len(chosen)} of {count - first}", flush=True)
    write_atomically(SEEDS, "".join(lines))


if __name__ == "__main__":
    main()

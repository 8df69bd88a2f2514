"""Programs of all hosts: how layers are started, and how tasks run side by side."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tb.lab.lab import Notebook

Options = Mapping[str, float | str]
"""Options of a layer, by name."""
T = TypeVar("T")


async def start_in_turn(libraries: Iterable[Any]) -> None:
    """Start the layer on one host after the other."""
    for library in libraries:
        await library.start()


async def start_together(lab: Notebook, libraries: Iterable[Any]) -> None:
    """Start the layer on all hosts at the same time."""
    await together(lab, "start of host", [library.start() for library in libraries])


async def together(lab: Notebook, name: str, programs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run programs side by side and return their results.

    Args:
        lab: the study's lab.
        name: name of the tasks; the place of a program in `programs` follows it.
        programs: coroutines, in the order in which their tasks begin.
    """
    return await lab.all([lab.spawn(program, f"{name} {number}") for number, program in enumerate(programs)])


def in_pairs(choices: Sequence[Options], spare: int = 0) -> dict[int, Options]:
    """Return the options of each host when two neighbouring hosts share a choice.

    Args:
        choices: options of the pairs, in the order of the hosts.
        spare: number of hosts before the first pair, which belong to none.

    Returns:
        Options by host number, as `Lab.start_layer` takes them in `of_host`.
    """
    return {spare + 2 * place + side: options for place, options in enumerate(choices) for side in (0, 1)}

"""Programs of all hosts: start of layers, and concurrent tasks."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tb.lab.lab import Notebook

Options = Mapping[str, float | str]
"""Options of a layer, by name."""
T = TypeVar("T")


async def start_in_turn(libraries: Iterable[Any]) -> None:
    """Start the layer on the hosts one after the other."""
    for library in libraries:
        await library.start()


async def start_together(lab: Notebook, libraries: Iterable[Any]) -> None:
    """Start the layer on all hosts concurrently."""
    await together(lab, "start of host", [library.start() for library in libraries])


async def together(lab: Notebook, name: str, programs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order.

    Args:
        lab: the study's lab.
        name: name of the tasks; the index of each coroutine is appended.
        programs: coroutines, in the order in which their tasks begin.
    """
    return await lab.all([lab.spawn(program, f"{name} {number}") for number, program in enumerate(programs)])


def in_pairs(choices: Sequence[Options], spare: int = 0) -> dict[int, Options]:
    """Return the options of each host, where each pair of neighbouring hosts shares one choice.

    Args:
        choices: options of each pair, in the order of the hosts.
        spare: number of hosts before the first pair, which get no options.

    Returns:
        Options by host number, for the argument `of_host` of `Lab.start_layer`.
    """
    return {spare + 2 * place + side: options for place, options in enumerate(choices) for side in (0, 1)}

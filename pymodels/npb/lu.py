"""LU: a cube cut into columns over a grid of processes, crossed plane by plane by wave fronts.

In a step, the lower sweep exchanges pencils of 5 values per point. For each inner plane it receives one from north and
west, and sends one to south and east. The upper sweep does the opposite. The right-hand side then needs faces two
points deep of all four neighbours. Pencils are in the two local arrays of the exchange routine, faces in the adjacent
arrays `buf` and `buf1`, as declared; the local arrays follow them (ours).
"""

from __future__ import annotations

from collections.abc import Iterator

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

GRID = {"A": 64, "B": 102}
ITERATIONS = 250
VARIABLES, DEEP = 5, 2


def neighbours(processes: int, rank: int) -> dict[str, int | None]:
    """Return the ranks north, south, west and east of a process; None at the edge."""
    log = processes.bit_length() - 1
    rows = 1 << log // 2
    columns = processes // rows
    row, column = rank % rows, rank // rows
    return {
        "north": rank - 1 if row else None,
        "south": rank + 1 if row < rows - 1 else None,
        "west": rank - rows if column else None,
        "east": rank + rows if column < columns - 1 else None,
    }


def lu(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of LU."""
    points = GRID[problem]
    rows = 1 << (processes.bit_length() - 1) // 2
    nx, ny = -(-points // rows), -(-points // (processes // rows))
    most = max(nx, ny)
    face, pencil = most * points * VARIABLES * DEEP * WORD, 2 * most * VARIABLES * WORD
    at = arrays(fields=18 * nx * ny * points * WORD, buf=face, buf1=face, dum=pencil, dum1=pencil)
    near = neighbours(processes, rank)
    along = {"north": ny, "south": ny, "west": nx, "east": nx}

    def pencils(send: bool, *ways: str) -> Iterator[Transfer]:
        for way, array in zip(ways, ("dum", "dum1"), strict=True):
            peer = near[way]
            if peer is not None:
                yield Transfer(send, peer, at[array], along[way] * VARIABLES * WORD, ends=True)

    def faces(to: str, source: str) -> Iterator[Transfer]:
        size = along[to] * points * VARIABLES * DEEP * WORD
        for send, way, array in ((False, source, "buf1"), (True, to, "buf")):
            peer = near[way]
            if peer is not None:
                yield Transfer(send, peer, at[array], size)

    lower = [*pencils(False, "north", "west"), *pencils(True, "south", "east")]
    upper = [*pencils(False, "south", "east"), *pencils(True, "north", "west")]
    step = (points - 2) * lower + (points - 2) * upper
    for to, source in (("south", "north"), ("north", "south"), ("east", "west"), ("west", "east")):
        step += together(faces(to, source))
    return Traffic((), tuple(step), ITERATIONS)

"""C paths of VIA against the Python firmware, on random traffic.

Strategy: programs of the fuzz test run on the machine. Whenever VIA's firmware charges a path, the path's C, compiled
for the local machine, runs on the current state of the firmware: words of NIC memory, and its variables by name. The C
then announces the firmware's next action. Some actions are data: descriptors and pages taken from a queue cache, sent
headers, words stored in host or NIC memory. The others are the treatment of a packet, the used part of a page, and
permissions. Every compared path must be compared often, and at least once along the counted straight line. Changed C
must be detected.

Not covered: the point at which Python charges a path for a step that is in neither program. Paths whose C is not run
are not covered either; `tests/tools/beside/via.py` names the compared paths.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from pymodels.costs.sources import FIRMWARE
from tb.fuzz import trial
from tests.tools.beside.paths import Paths
from tests.tools.beside.run import Beside, watched
from tests.tools.beside.via import FOUND

LAYER = FIRMWARE / "via" / "nic"
OFTEN, SEEDS = 8, range(1, 120)
"""Minimum comparisons of each path, and the programs of the fuzz test within which they must occur."""


@cache
def traffic(folder: Path) -> Beside:
    """Run programs until every path was compared often."""
    paths = Paths(LAYER, folder)
    with watched(paths) as beside:
        for seed in SEEDS:
            run(seed)
            if min(beside.compared[path] for path in paths.paths) >= OFTEN:
                break
    return beside


def run(seed: int) -> None:
    """Run a program of the fuzz test, whose own tests check that it ends well."""
    assert trial.on_machine("via", trial.drawn("via", seed)[0]).failures == ()


@pytest.fixture(name="beside", scope="module")
def fixture_beside(tmp_path_factory: pytest.TempPathFactory) -> Beside:
    """Return the comparison of both programs on random traffic."""
    return traffic(tmp_path_factory.mktemp("paths"))


def test_c_and_python_do_the_same(beside: Beside) -> None:
    assert beside.wrong == []


@pytest.mark.parametrize("path", FOUND)
def test_a_path_is_compared_often_and_runs_straight(beside: Beside, path: str) -> None:
    assert beside.compared[path] >= OFTEN, f"{beside.charged[path]} charges, {beside.ran[path]} runs of its C"
    assert beside.ran[path] <= beside.charged[path]
    left = sum(count for (name, _), count in beside.left.items() if name == path)
    assert left < beside.ran[path], "it never takes the instructions that are counted"


@pytest.mark.parametrize(
    ("header", "text", "instead", "path"),
    [
        ("sending.h", "size << 29 | now->peer << 22", "size << 29 | now->peer << 21", "send_packet"),
        (
            "sending.h",
            "now->address = take(ring);\n    now->left = take(ring);",
            "now->left = take(ring);",
            "send_page",
        ),
        (
            "sending.h",
            "SHARED32(&layer->shared->send_head) = at;",
            "SHARED32(&layer->shared->send_head) = 1;",
            "send_end",
        ),
        ("receiving.h", "return address;", "return address + 4;", "receive_piece"),
        ("receiving.h", "endpoint->from != first >> 16", "endpoint->from == first >> 16", "receive_packet"),
        ("completions.h", "words[0] = length;\n    words[1] = status | 1;\n    *stores", "*stores", "write_status"),
        ("acknowledgements.h", "kind << 18 | 3 << 16 | named", "kind << 18 | 3 << 16", "answer"),
    ],
)
def test_changed_c_is_found(tmp_path: Path, header: str, text: str, instead: str, path: str) -> None:
    copy = Path(shutil.copytree(LAYER, tmp_path / "via" / LAYER.name))
    whole = (copy / header).read_text(encoding="utf-8")
    assert whole.count(text) == 1
    (copy / header).write_text(whole.replace(text, instead), encoding="utf-8")
    with watched(Paths(copy, tmp_path)) as beside:
        for seed in SEEDS:
            run(seed)
            if beside.wrong:
                break
    assert {wrong.partition(":")[0] for wrong in beside.wrong} == {path}

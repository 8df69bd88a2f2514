"""C paths of GRIM, from which its costs are counted, against the Python firmware, step by step.

Strategy: programs of the fuzz test run on the machine. A step of the main loop begins with the firmware's state: NIC
memory word by word, and the firmware's variables under their names in C. Whenever the firmware charges a path, the
path's C runs on the state left by the earlier paths of this step. The C is compiled for the local machine. At the end
of the step both programs must have the same variables. They must have stored the same words in NIC memory and the same
values in special registers. A path counts as compared in a step that was compared to its end. Changed C must be
detected.

Not covered:

- steps that leave the counted instructions (a path gives the reason and stops);
- cards with 32-bit memory, and paths that `beside/grim/paths.py` does not name;
- a NI that is down (see "hosts that come back" in `firmware/grim/nic/boot.py`): a message to it, new, fetched or
  copied for a tree, gets a turn to be rejected in Python and none in C (programs 55 and 30);
- a packet of an ended connection: Python drops it, where C only classifies it (programs 9, 38 and 49);
- the end of a full channel's turn with doorbells (113), and the release of a report to another host (149);
- the end of a translation request: Python interrupts the host, whose driver then polls; the C has no such end (224);
- the age of a stream that is no longer watched, which `TickingClock.forget` clears off the path (111, 234 and 246).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pymodels.costs.sources import FIRMWARE
from tb.fuzz import trial
from tests.tools.beside.compiled import Compiled
from tests.tools.beside.grim.layer import Grim
from tests.tools.beside.grim.paths import PATHS
from tests.tools.beside.together import Together
from tests.tools.beside.watched import together

LAYER = FIRMWARE / "grim" / "nic"
ENOUGH = 2
"""Number of runs of a path after which it is not compared any more."""
SEEDS = (103, 35, 147, 130, 51, 92, 97, 58, 93, 49, 154, 121, 66, 224, 246, 319, 347, 366, 408)
"""Programs of the fuzz test in which every compared path occurs."""


def run(compiled: Compiled, seeds: tuple[int, ...]) -> Together:
    """Run programs of the fuzz test, whose own tests check that they end well."""
    with together(compiled, Grim(), ENOUGH) as both:
        for seed in seeds:
            assert trial.on_machine("grim", trial.drawn("grim", seed)[0]).failures == ()
    return both


@pytest.fixture(name="both", scope="module")
def fixture_both(tmp_path_factory: pytest.TempPathFactory) -> Together:
    """Return the comparison of both programs on random traffic."""
    return run(Compiled(LAYER, tmp_path_factory.mktemp("paths")), SEEDS)


def test_c_and_python_do_the_same(both: Together) -> None:
    assert both.wrong == []


def test_every_path_is_compared(both: Together) -> None:
    assert sorted(PATHS.keys() - both.compared.keys()) == []


@pytest.mark.parametrize(
    ("header", "text", "instead", "path"),
    [
        ("pieces.h", "size = length_of(w2) + ROUTE_BYTES;", "size = (w2 >> 16) + ROUTE_BYTES;", "send_message"),
        ("pieces.h", "SHARED32(&board->channel->front) = board->channel->next;", "", "ack_seen"),
        ("pieces.h", "REGISTER_WRITE(RML, other->limit);", "", "receive_message"),
        ("sending.h", "    ni->busy = 0;\n", "", "send_done"),
        ("answers.h", "out->waiting++;\n        ni->rolled_back++;", "ni->rolled_back++;", "roll_back_step"),
        ("remote.h", "reply->argument[2] = job->size;", "reply->argument[2] = job->whole;", "remote_read"),
    ],
)
def test_changed_c_is_found(tmp_path: Path, header: str, text: str, instead: str, path: str) -> None:
    copy = Path(shutil.copytree(LAYER, tmp_path / "grim" / LAYER.name))
    shutil.copytree(FIRMWARE / "common", tmp_path / "common")  # included from the folder next to it
    whole = (copy / header).read_text(encoding="utf-8")
    assert whole.count(text) == 1
    (copy / header).write_text(whole.replace(text, instead), encoding="utf-8")
    both = run(Compiled(copy, tmp_path), SEEDS[:2])
    assert any(path in step.split() for step, _ in both.wrong)

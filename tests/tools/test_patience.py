"""Time limits of a bench's tests when it runs a mutant.

Strategy: the notes of one bench are made by hand, without a simulator. A test with a short known duration that never
ends runs in a separate process, which must be terminated.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from tb.quality.patience import _Tests
from tb.tools.paths import ROOT

ENDLESS = """
import sys
from pathlib import Path
from tb.quality import limits, patience
limits.TEST_OF_BENCH = limits.Limit(0.2, 3)
tests = patience._Tests(Path(sys.argv[1]))
for name in ("known", "new"):
    tests.begins(name)
    for _ in range(1000 if name == sys.argv[2] else 1 << 40):
        pass
"""


def test_a_bench_without_limits_records_the_times_of_its_tests(tmp_path: Path) -> None:
    left = tmp_path / "tests.json"
    tests = _Tests(left)
    for name in ("first", "second", ""):
        tests.begins(name)
    taken = json.loads(left.read_text(encoding="utf-8"))
    assert list(taken) == ["first", "second"]
    assert all(0 <= seconds < 5 for seconds in taken.values())


def test_a_test_that_takes_far_longer_ends_the_simulator_and_so_does_one_that_is_not_known(tmp_path: Path) -> None:
    known = tmp_path / "tests.json"
    known.write_text('{"known": 0.01}', encoding="utf-8")
    for ends in ("none", "known"):
        run = subprocess.run([sys.executable, "-c", ENDLESS, str(known), ends], cwd=ROOT, check=False)
        assert run.returncode == -signal.SIGVTALRM
    assert json.loads(known.read_text(encoding="utf-8")) == {"known": 0.01}

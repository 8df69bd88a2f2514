"""Comparison of studies on both simulators at their defaults: `python -m tests.system.defaults STUDY ...`.

Also prints the time on Icarus: wall-clock time, and CPU time, which does not depend on other load. A study takes
minutes, so no test does this. Exit code 1: a study differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from tests.system.runs import assert_equal, must


def compare(study: str, settings: str) -> str:
    """Return the differences of a study, or an empty string, and print its time on Icarus."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            one = must(study, "verilator", Path(folder) / "verilator", settings)
            before = getrusage(RUSAGE_CHILDREN)
            other = must(study, "icarus", Path(folder) / "icarus", settings)
            after = getrusage(RUSAGE_CHILDREN)
            cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            took = f"{other.results.wall_s:.0f} s on Icarus, {cpu:.0f} s of a processor"
            print(f"{study}: {took}, {one.results.cost.cycles} edges, {len(other.trace)} records", flush=True)
            assert_equal(one, other)
        except AssertionError as error:
            return str(error)
    return ""


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="tests.system.defaults", description=__doc__)
    parser.add_argument("--set", default="", dest="settings", metavar="KEY=VALUE ...")
    parser.add_argument("studies", nargs="+", metavar="STUDY")
    given = parser.parse_args()
    found = {study: compare(study, given.settings) for study in given.studies}
    for study, wrong in found.items():
        print(f"{study}: {wrong or 'equal'}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.durations RESULTS.xml ...`: how long each kind of test takes, from pytest's own results.

The results come from `make test PYTEST_ADDOPTS=--junitxml=results.xml`. Tests above SLOW_S are written to
`durations.json`, by which `conftest.py` orders tests and `make check` leaves some out.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.conftest import DURATIONS, PROCESSOR_S, SLOW_S


def measured(paths: list[Path]) -> dict[str, float]:
    """Return the processor seconds of each test function, all its cases together; wall time where they are missing."""
    seconds = defaultdict[str, float](float)
    for case in (case for path in paths for case in ET.parse(path).getroot().iter("testcase")):
        module = case.get("classname", "").replace(".", "/")
        properties = {one.get("name"): one.get("value") for one in case.iter("property")}
        used = properties.get(PROCESSOR_S) or case.get("time") or "0"
        seconds[f"{module}.py::{case.get('name', '').partition('[')[0]}"] += float(used)
    return seconds


def main(words: list[str]) -> None:
    """Print the seconds of each kind and write the file."""
    seconds = measured([Path(word) for word in words])
    kinds = defaultdict[str, float](float)
    for name, took in seconds.items():
        kinds[name.split("/")[1]] += took
    for kind, took in sorted(kinds.items(), key=lambda one: -one[1]):
        print(f"{kind:8} {took:8.0f} s")
    slow = {name: round(took, 1) for name, took in sorted(seconds.items()) if took >= SLOW_S}
    DURATIONS.write_text(json.dumps(slow, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Test cases of a run, `results.xml`, in the format of JUnit that CI servers read.

Elements and attributes are those that the schema of Jenkins's xUnit plugin (junit-10.xsd) permits; other servers read
more. The format has no element for simulated time: `system-out` of a case reports it. Python's ElementTree writes the
file, since a library would add a dependency for four elements and leaves the invalid characters to its caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from pymodels.results import write_atomically

FILE = "results.xml"
RUN = "run"
"""Name of the test case of the whole run."""
UNFINISHED = "Unfinished"
"""Type of the error of a run that has not ended."""
SHOWN = 100
"""Maximum number of failures that a case lists."""
INVALID = re.compile("[^\t\n\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not permit, DEL, and CR, which a reader would change."""


@dataclass(frozen=True)
class Case:
    """Test case.

    Attributes:
        name: Name, unique in its group.
        group: Group of cases, such as `checks`; empty for the case of the whole run.
        wall_s: Wall time in s.
        sim_ps: Simulated time of the case in ps.
        failures: Text of each failure; empty if the case passed.
        error: Type of the error that ended the case, such as the name of an exception; empty: the case has failed or
            passed.
        note: Further text.
    """

    name: str
    group: str = ""
    wall_s: float = 0.0
    sim_ps: int = 0
    failures: tuple[str, ...] = ()
    error: str = ""
    note: str = ""


def write_cases(
    file: Path,
    study: str,
    cases: Iterable[Case],
    properties: Mapping[str, object] | None = None,
    durable: bool = True,
) -> None:
    """Write the test cases of a run atomically. Raises ResultsError if writing fails.

    Args:
        file: Path of the file.
        study: Name of the study, and of the suite.
        cases: The cases.
        properties: Properties of the suite, such as seed and profile.
        durable: False to leave the time of the write to disk to the operating system.
    """
    suite = ET.Element("testsuite", name=_valid(study))
    listed = ET.SubElement(suite, "properties")
    for key, value in (properties or {}).items():
        ET.SubElement(listed, "property", name=_valid(key), value=_valid(str(value)))
    for case in cases:
        suite.append(_element(study, case))
    _write(file, suite, durable)


def set_error(file: Path, study: str, error: str, text: str) -> None:
    """Set the error of the run whose simulator has ended, unless the file reports one already.

    A file that is missing or damaged is replaced. The text of an unfinished run, which says what it waited for, stays.

    Args:
        file: Path of the file.
        study: Name of the study.
        error: Type of the error.
        text: Description of the error.

    Raises:
        ResultsError: Writing fails.
    """
    suite = _read(file)
    cases = [] if suite is None else suite.findall("testcase")
    run = next((case for case in cases if (case.get("name"), case.get("classname")) == (RUN, _valid(study))), None)
    if suite is None or run is None:
        write_cases(file, study, [Case(RUN, failures=(text,), error=error)])
        return
    unfinished = run.find(f"error[@type='{UNFINISHED}']")
    if unfinished is not None:
        text = f"{text}; {unfinished.get('message', '')}"
        run.remove(unfinished)
    elif any(case.find(bad) is not None for case in cases for bad in ("failure", "error")):
        return
    _add_problem(run, "error", error, (text,))
    _write(file, suite)


def add_failure(file: Path, name: str, text: str) -> None:
    """Add a failed case to the suite of a run, if the file exists. Raises ResultsError if writing fails."""
    suite = _read(file)
    if suite is not None:
        suite.append(_element(suite.get("name", ""), Case(name, failures=(text,))))
        _write(file, suite)


def _element(study: str, case: Case) -> ET.Element:
    group = f"{study}.{case.group}" if case.group else study
    element = ET.Element("testcase", name=_valid(case.name), classname=_valid(group), time=f"{case.wall_s:.3f}")
    if case.error:
        _add_problem(element, "error", case.error, case.failures)
    elif case.failures:
        _add_problem(element, "failure", "failure", case.failures)
    said = [f"simulated time: {case.sim_ps / 1e6:.6f} us", *([case.note] if case.note else [])]
    ET.SubElement(element, "system-out").text = _valid("\n".join(said))
    return element


def _add_problem(element: ET.Element, tag: str, kind: str, texts: tuple[str, ...]) -> None:
    lines = [*texts[:SHOWN], *([f"and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else [])]
    problem = ET.Element(tag, type=_valid(kind), message=_valid(lines[0].partition("\n")[0] if lines else ""))
    problem.text = _valid("\n".join(lines))
    element.insert(0, problem)


def _read(file: Path) -> ET.Element | None:
    try:
        return ET.parse(file).getroot().find("testsuite")
    except (OSError, ET.ParseError):
        return None


def _write(file: Path, suite: ET.Element, durable: bool = True) -> None:
    cases = list(suite.iter("testcase"))
    suite.set("tests", str(len(cases)))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root, " ")
    text = ET.tostring(root, encoding="unicode")
    write_atomically(file, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', durable)


def _valid(text: str) -> str:
    """Return a text with each character that XML does not permit escaped as in Python."""
    return INVALID.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)

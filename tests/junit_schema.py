"""Test cases in `results.xml` as a CI server reads them, and the violations of the JUnit schema.

The table lists the elements and attributes that Jenkins's xUnit plugin accepts (junit-10.xsd); it is the strictest of
the common readers, and written here from that schema, independently of the writer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
"""Time of a suite in s."""


@dataclass(frozen=True)
class Rule:
    """Permitted content of an element."""

    needs: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()
    text: bool = False


def _rule(needs: str = "", may: str = "", children: str = "", text: bool = False) -> Rule:
    return Rule(frozenset(needs.split()), frozenset(may.split()), frozenset(children.split()), text)


PROBLEM = _rule(may="type message", text=True)
RULES = {
    "testsuites": _rule(may="name time tests failures errors", children="testsuite"),
    "testsuite": _rule(
        "name tests failures errors",
        "group time skipped timestamp hostname id package file log url",
        "testsuite properties testcase system-out system-err",
    ),
    "testcase": _rule("name", "time classname group", "skipped error failure system-out system-err"),
    "properties": _rule(children="property"),
    "property": _rule("name value"),
    "system-out": _rule(text=True),
    "system-err": _rule(text=True),
    "failure": PROBLEM,
    "error": PROBLEM,
    "skipped": PROBLEM,
}


def violations(file: Path) -> list[str]:
    """Return the violations of the schema, and counts of a suite that differ from its cases."""
    root = ET.parse(file).getroot()
    found = [] if root.tag in ("testsuites", "testsuite") else [f"root {root.tag}"]
    for element in root.iter():
        found += _of_element(element)
    for suite in root.iter("testsuite"):
        cases = list(suite.iter("testcase"))
        for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            if int(suite.get(count, 0)) != sum(case.find(tag) is not None for case in cases):
                found.append(f"suite {suite.get('name')}: {count}={suite.get(count)}")
        if int(suite.get("tests", 0)) != len(cases):
            found.append(f"suite {suite.get('name')}: tests={suite.get('tests')}")
        if not TIME.fullmatch(suite.get("time", "")):
            found.append(f"suite {suite.get('name')}: time={suite.get('time')}")
        names = [(case.get("classname"), case.get("name")) for case in cases]
        found += [f"case {name} twice" for name in {*names} if names.count(name) > 1]
    return found


def _of_element(element: ET.Element) -> list[str]:
    if (rule := RULES.get(element.tag)) is None:
        return [f"element {element.tag}"]
    found = [f"{element.tag}: no {name}" for name in rule.needs - element.attrib.keys()]
    found += [f"{element.tag}: attribute {name}" for name in element.attrib.keys() - rule.needs - rule.may]
    found += [f"{element.tag}: child {child.tag}" for child in element if child.tag not in rule.children]
    if not rule.text and (element.text or "").strip():
        found.append(f"{element.tag}: text {element.text!r}")
    return found


@dataclass(frozen=True)
class Read:
    """Test case as a CI server shows it."""

    classname: str
    name: str
    time_s: float
    problem: str
    """`failure` or `error`, or empty."""
    message: str
    text: str
    output: str


def cases(file: Path) -> dict[str, Read]:
    """Return the test cases of a file by `group/name`; the run itself is `run`. The file must be valid."""
    assert violations(file) == []
    found = {}
    for suite in ET.parse(file).getroot().iter("testsuite"):
        study = suite.get("name", "")
        for case in suite.iter("testcase"):
            found_problems = [child for child in case if child.tag in ("failure", "error")]
            assert len(found_problems) <= 1
            problem = found_problems[0] if found_problems else ET.Element("")
            group = case.get("classname", "").removeprefix(study).lstrip(".")
            found[f"{group}/{case.get('name')}".lstrip("/")] = Read(
                case.get("classname", ""),
                case.get("name", ""),
                float(case.get("time", "nan")),
                problem.tag,
                problem.get("message", ""),
                problem.text or "",
                case.findtext("system-out") or "",
            )
    return found

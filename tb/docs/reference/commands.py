"""Reference page of the commands: targets and variables of make, and the options of each word of `sanlab`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tb.docs.markdown import code, escape, table
from tb.sanlab.command import COMMANDS
from tb.tools.paths import ROOT

TARGET = re.compile(r"^([a-z0-9-]+):.*?## (.*)$", re.MULTILINE)
VARIABLE = re.compile(r"^## (\w+)(=(?:\"[^\"]*\"|\S+)) +(.*(?:\n## {20,}.*)*)", re.MULTILINE)
USES = re.compile(r"^uses_([a-z0-9-]+) := (.*)$", re.MULTILINE)
SECONDS = 60
"""Limit for one `--help`."""


def targets(makefile: str) -> list[tuple[str, str, str]]:
    """Return name, meaning and variables of every target of a Makefile."""
    used = dict(USES.findall(makefile))
    run = used.get("run", "").split()
    known = {name: [word for word in text.split() if word.isupper()] for name, text in used.items()}
    for name, text in used.items():
        if "$(filter-out" in text:
            left_out = set(text.removeprefix("$(filter-out ").partition(",")[0].split())
            known[name] = [word for word in run if word not in left_out]
    return [(name, meaning, " ".join(known.get(name, ()))) for name, meaning in TARGET.findall(makefile)]


def variables(makefile: str) -> list[tuple[str, str]]:
    """Return every documented variable of a Makefile with its value, and its meaning."""
    found = VARIABLE.findall(makefile)
    return [(f"{name}{value}", " ".join(meaning.replace("##", "").split())) for name, value, meaning in found]


def usage(word: str) -> str:
    """Return what `sanlab WORD --help` prints."""
    command = [sys.executable, "-m", "tb.sanlab", word, "--help"]
    env = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, encoding="utf-8", check=True, timeout=SECONDS
    )
    return done.stdout.strip()


def page() -> Iterator[str]:
    """Yield the page."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    yield from (
        "# Commands",
        "",
        "Every command, for users at a terminal. `make TARGET` sets up what is missing and calls",
    )
    yield from ("`sanlab COMMAND`, which does the work.", "")
    yield "Exit codes of `sanlab`: 0 success, 1 a failed check or run, 2 invalid input; `make` itself ends with 2 then."
    yield from ("", "## Targets of make", "")
    yield from table(
        ("target", "what it does", "variables"),
        ((code(name), escape(meaning), code(used)) for name, meaning, used in targets(makefile)),
    )
    yield from ("## Variables of make", "")
    yield from table(("variable", "meaning"), ((code(name), escape(meaning)) for name, meaning in variables(makefile)))
    yield from ("## Words of sanlab", "")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (word, command), text in zip(COMMANDS.items(), pool.map(usage, COMMANDS), strict=True):
            yield from (f"### sanlab {word}", "", escape(f"{command.does[0].upper()}{command.does[1:]}."), "")
            yield from ("```text", text, "```", "")

"""A tutorial as a reader types it: its blocks, and a copy of the checkout in which they are carried out.

Tests follow the pages, and pictures of a page are made by following it.

| block | meaning |
|---|---|
| `sh` | commands, run in the copy; `<!-- test: ... -->` on the line before gives shorter ones for the test |
| any language, first line `file: path` in a comment | the text of a file, which is written |
| `diff` | a change of files, applied by `git apply` |
| `text` | lines that the commands before have printed; `...` stands for any lines, `<!-- test: varies -->` for all |
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tb.build.store import STORE
from tb.tools.paths import ROOT

BLOCK = re.compile(r"(?:<!-- test: (.*?) -->\n+)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|//|/\*|<!--) file: (\S+)(?: \*/| -->)?")
VARIES = "varies"
LEFT_OUT = shutil.ignore_patterns("sim_build", ".venv", ".git", "__pycache__", ".*_cache", ".hypothesis")
LIMIT_S = 1200


class PageError(AssertionError):
    """A block of a page does not work as typed."""


class Block(NamedTuple):
    """Code block of a page."""

    language: str
    text: str
    instead: str
    """Content of the comment `<!-- test: ... -->` before the block."""


def blocks(page: str, until: str = "") -> Iterator[Block]:
    """Yield the blocks of a page in their order, up to the heading that begins with `until`."""
    if until:
        page, found, _ = page.partition(f"\n## {until}")
        if not found:
            raise PageError(f"no heading begins with {until!r}")
    for instead, language, text in BLOCK.findall(page):
        yield Block(language, text, instead)


class Reader:
    """A reader of a tutorial, with a checkout of their own."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "sanlab"
        self.printed = ""
        shutil.copytree(ROOT, self.checkout, ignore=LEFT_OUT)
        venv = self.checkout / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
        for program in Path(sys.executable).parent.iterdir():  # Yosys, ruff and others are found beside Python
            if not (venv / "bin" / program.name).exists():
                (venv / "bin" / program.name).symlink_to(program)
        (site,) = (venv / "lib").glob("python*/site-packages")
        (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8")
        stamp = f"{self.checkout.resolve()}\n.venv\n-e .\n{requirements}"
        (venv / "sanlab.stamp").write_text(stamp, encoding="utf-8")
        author = ("-c", "user.name=reader", "-c", "user.email=reader@example.org")
        for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "Check out"]):
            subprocess.run(["git", *words], cwd=self.checkout, check=True)

    def follow(self, block: Block) -> None:
        """Do what a block says. Raises PageError if a command fails or prints other lines than shown."""
        named = FILE.fullmatch(block.text.partition("\n")[0])
        if named:
            self.write(named[1], block.text.partition("\n")[2])
        elif block.language == "sh":
            self.run(block.instead or block.text)
        elif block.language == "diff":
            done = self._start(["git", "apply", "-"], block.text)
            if done.returncode:
                raise PageError(done.stderr)
        elif block.language == "text" and block.instead != VARIES:
            self.compare(block.text)

    def write(self, path: str, text: str) -> None:
        """Write a file of the checkout."""
        file = self.checkout / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, commands: str) -> None:
        """Run commands in the checkout, and keep what they print."""
        done = self._start(["bash", "-euc", commands], "")
        self.printed = done.stdout + done.stderr
        if done.returncode:
            raise PageError(f"{commands}\n{self.printed[-4000:]}")

    def compare(self, shown: str) -> None:
        """Compare lines of the page with what was printed: each is a printed line or a part of it, in order."""
        printed = [" ".join(line.split()) for line in self.printed.splitlines()]
        at = 0
        for line in (" ".join(line.split()) for line in shown.splitlines()):
            if line and line != "...":
                found = [place for place in range(at, len(printed)) if line in printed[place]]
                if not found:
                    raise PageError(f"not printed: {line}\n{self.printed[-4000:]}")
                at = found[0] + 1

    def _start(self, command: list[str], text: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SANLAB_", "MAKE", "PYTEST"))}
        env = {**kept, "SANLAB_BUILDS": str(STORE), "COLUMNS": "200"}
        env.pop("PYTHONPATH", None)
        return subprocess.run(
            command,
            cwd=self.checkout,
            env=env,
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=LIMIT_S,
        )

"""`sanlab new layer NAME`: write a new message layer from the template `echo`; `sanlab new test FILE`: a cluster test.

The layer gets a folder, a study and, in a checkout, tests. C firmware with its images and tables is written only on
request, since a layer in Python runs without it. The layer goes to the first root of SANLAB_PATH, or to the checkout.
"""

from __future__ import annotations

import argparse
import keyword
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from firmware import layers
from pymodels import generated
from pymodels.errors import ConfigError
from pymodels.results import write_atomically
from pymodels.roots import TREE, roots
from tb.plan import studies
from tb.report.terminal import exit_code
from tb.tools.paths import CHECKOUT

TEMPLATE = "echo"
ONLY_IN_C = ("boot.py", "firmware.c", "firmware.*.toml", "executed.toml")
"""Template files for C firmware only."""
TESTS = tuple(f"tests/unit/{TEMPLATE}/{name}" for name in ("__init__.py", "test_echo.py", "charged_echo.py"))
IN_PYTHON = {
    "nic import boot, main": "nic import main",
    "Boot, Layer": "Layer",
    "    boot=Boot(words=boot.words),\n": "",
}
"""Replacements in the descriptor of a layer without C firmware."""
TEST = TREE / "tb" / "cocotb_test" / "template.py"
"""Template of a cluster test."""
NAME = re.compile(r"[a-z][a-z0-9_]*")
RENAMED = re.compile(rf"(?:(?<=firmware\.)|(?<=test_)|(?<=charged_)|(?<=[\"`/])|(?<=^# )){TEMPLATE}\b", re.MULTILINE)
"""Pattern of the template's name in modules, strings, paths and the title of its page."""


def files(name: str, in_c: bool, tests: bool) -> dict[str, str]:
    """Return the text of each file of a new layer by its path below a root.

    Args:
        name: Name of the layer.
        in_c: True to include C firmware with its images and table.
        tests: True to include unit tests and the tour of charged operations.
    """
    found = {str(path).replace(TEMPLATE, name): renamed(text, name) for path, text in _template(in_c, tests)}
    for old, new in () if in_c else IN_PYTHON.items():
        found[f"firmware/{name}/layer.py"] = found[f"firmware/{name}/layer.py"].replace(old, new)
    return found


def _template(in_c: bool, tests: bool) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each template file, including those in `generated.bz2`."""
    folder = TREE / "firmware" / TEMPLATE
    plain = [path for path in folder.rglob("*.*") if path.suffix != ".pyc" and path.name != generated.NAME]
    found = {path: path.read_text(encoding="utf-8") for path in plain}
    found |= {folder / name: text for name, text in generated.texts(folder / generated.NAME).items()}
    for path, text in sorted(found.items()):
        if in_c or not any(path.match(pattern) for pattern in ONLY_IN_C):
            yield path.relative_to(TREE), text
    studies = (f"tb/studies/{TEMPLATE}/{name}.py" for name in ("__init__", f"{TEMPLATE}_pingpong"))
    for name in (*studies, *(TESTS if tests else ())):
        yield Path(name), (TREE / name).read_text(encoding="utf-8")


def renamed(text: str, name: str) -> str:
    """Return a template text with the name of the new layer."""
    return RENAMED.sub(name, text.replace(f"{TEMPLATE}_pingpong", f"{name}_pingpong"))


def check(name: str) -> None:
    """Raise ConfigError for an invalid name, or a name that a layer or a study already has."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ConfigError("LAYER", 0, "invalid name", f"{name!r}", "use lower-case letters, digits and _, such as mine")
    if name in layers.names():
        raise ConfigError("LAYER", 0, "name in use", f"a layer is named {name!r}", "choose another name")
    if f"{name}_pingpong" in studies.names():
        raise ConfigError("LAYER", 0, "name in use", f"a study is named '{name}_pingpong'", "choose another name")


def write(name: str, root: Path, in_c: bool, tests: bool) -> list[str]:
    """Write the files of a layer and return their paths. Raises ConfigError, before writing, if a file exists."""
    wanted = files(name, in_c, tests)
    for path in wanted:
        if generated.found(root / path) is not None if generated.is_compressed(root / path) else (root / path).exists():
            raise ConfigError(str(root / path), 0, "file exists", "a new layer would replace it", "move it away")
    written = dict[str, None]()
    for path, text in wanted.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if generated.is_compressed(file):
            generated.keep(file, text)
            file = generated.where(file)[0]
        else:
            write_atomically(file, text)
        written[file.relative_to(root).as_posix()] = None
    return list(written)


def write_test(file: Path) -> Path:
    """Write a cocotb test of a running cluster and return its path.

    Raises:
        ConfigError: The file exists, or pytest would not collect it.
    """
    if not (file.suffix == ".py" and file.stem.startswith("test_") and file.stem.isidentifier()):
        raise ConfigError(str(file), 0, "invalid name", "pytest would not collect it", "name it such as test_mine.py")
    if file.exists():
        raise ConfigError(str(file), 0, "file exists", "a new test would replace it", "move it away")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, TEST.read_text(encoding="utf-8"))
    return file


def main(words: Sequence[str]) -> int:
    """Write a new layer and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab new", description="Write a message layer or a cluster test.")
    parser.add_argument("what", choices=["layer", "test"], help="kind of thing to write")
    parser.add_argument("name", help="name of the layer: lower-case letters, digits and _; or file of the test")
    parser.add_argument("--firmware", choices=["python", "c"], default="python", help="c: include firmware in C")
    given = parser.parse_args(words)
    if given.what == "test":
        print(write_test(Path(given.name)))
        print(f"next: pytest {given.name}")
        return 0
    check(given.name)
    root, in_c = (*roots()[1:], TREE)[0], given.firmware == "c"
    if root == TREE and not CHECKOUT:
        remedy = "make a folder mylab/firmware and name it: SANLAB_PATH=mylab"
        raise ConfigError("SANLAB_PATH", 0, "no root for the layer", "this is not a checkout", remedy)
    tests = root == TREE
    written = write(given.name, root, in_c, tests)
    if tests:
        subprocess.run([sys.executable, "-m", "tests.unit.layers.charges", given.name], cwd=TREE, check=True)
    for path in written:
        print(root / path if root != TREE else path)
    print(f"next: {'make run STUDY=' if tests else 'sanlab run '}{given.name}_pingpong")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "interrupted: some files of the layer may be missing"))

"""The command of `make docs`: builds the site in `sim_build/docs`, offline. A warning of Sphinx is an error."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tb.report.terminal import complain
from tb.tools.paths import OUT, ROOT
from tb.tools.programs import ToolError

NEEDED = {"sphinx": "sphinx", "myst_parser": "myst-parser", "furo": "furo"}
"""Modules that the build imports, and their packages."""
ENTRY = "tb/docs/index.html"
FORWARD = '<!doctype html><meta charset="utf-8"><title>sanlab</title><meta http-equiv="refresh" content="0; url={0}">\n'


def check_installed() -> None:
    """Raise ToolError if a package that the build needs is missing."""
    missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        cause = f"{', '.join(missing)}: not installed"
        raise ToolError("the site cannot be built", cause, "type `make setup`, which installs requirements.txt")


def build(out: Path) -> None:
    """Build the site in a folder. Raises ToolError if Sphinx reports a warning or an error."""
    from tb.docs.stage import stage

    check_installed()
    stage(out / "source")
    command = [sys.executable, "-m", "sphinx", "-q", "--fail-on-warning", "--keep-going", "-j", "2", "-b", "html"]
    folders = ["-c", str(ROOT / "tb" / "docs"), "-d", str(out / "doctrees"), str(out / "source"), str(out / "html")]
    done = subprocess.run([*command, *folders], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise ToolError("the site was not built", f"Sphinx reports\n{done.stderr.strip()}\n", "correct these places")
    (out / "html" / "index.html").write_text(FORWARD.format(ENTRY), encoding="utf-8")


def main(arguments: Sequence[str] = ()) -> int:
    """Build the site and print where it is; return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab docs", description="Build the documentation site, offline.")
    parser.add_argument("--out", default=str(OUT / "docs"), help="folder of the site (default sim_build/docs)")
    out = Path(parser.parse_args(arguments).out).absolute()
    try:
        build(out)
    except ToolError as error:
        complain(str(error))
        return error.exit_code
    print(f"site: {out / 'html' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

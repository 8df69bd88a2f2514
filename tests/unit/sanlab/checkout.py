"""A checkout of its own for tests of the Makefile and of set-up: a folder with spaces in its name, and only
fake tools.

The fake Python notes how it was called and acts as environment variables prescribe; no package is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S

REAL = "sh cat chmod cmp cp head mkdir mv rm find grep ls dirname awk sed make env flock".split()  # noqa: SIM905 - a list of words
FAKE_PYTHON = r"""#!/bin/sh
{ printf '<%s>' "$@"; printf '\n'; } >>"$FAKE_LOG"
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; : >"$3/pyvenv.cfg" ;;
  "-m pip "*) [ -z "$FAKE_PIP_FAILS" ] || exit 1; [ -z "$FAKE_PIP_DIES" ] || kill -9 $PPID ;;
  "-m find_libpython") [ -n "$FAKE_NO_LIBPYTHON" ] || echo /lib/libpython.so ;;
  "-c import ensurepip"*) [ -z "$FAKE_NO_ENSUREPIP" ] ;;
  "-c import os, sys, sysconfig"*) [ -z "$FAKE_NO_HEADERS" ] ;;
  "-c import sys; sys.exit"*) [ -z "$FAKE_OLD" ] ;;
  "-c import sys; print"*) echo 3.11 ;;
  "-m tb.sanlab run"*) exit "${FAKE_STUDY_CODE:-0}" ;;
esac
"""
FAKE_APT = r"""#!/bin/sh
{ printf 'apt-get'; printf ' <%s>' "$@"; printf '\n'; } >>"$FAKE_LOG"
case "$*" in *install*) [ -z "$FAKE_APT_FAILS" ] ;; esac
"""


class Checkout:
    """Makefile and set-up in a folder of their own; `tools` is all there is on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "my checkout"
        self.tools = folder / "tools"
        self.log = folder / "log"
        (self.root / "tb").mkdir(parents=True)
        self.tools.mkdir()
        for name in ("Makefile", "tb/setup.sh"):
            shutil.copy(ROOT / name, self.root / name)
        self.requirements = self.root / "requirements.txt"
        self.requirements.write_text("one==1\n", encoding="utf-8")
        for name in REAL:
            found = shutil.which(name)
            if found:
                (self.tools / name).symlink_to(found)
        self.tool("python3", FAKE_PYTHON)
        self.tool("id", "#!/bin/sh\necho 1000\n")
        for name in (
            "g++",
            "iverilog",
            "vvp",
            "tshark",
            "chromium",
            "clang-16",
            "llvm-objdump-16",
            "mpicc.mpich",
            "mpiexec.mpich",
            "gfortran",
        ):
            self.tool(name)

    def tool(self, name: str, text: str = "#!/bin/sh\nexit 0\n") -> None:
        """Put a fake program on the PATH."""
        path = self.tools / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def become_root(self) -> None:
        """Make the user root on a machine with apt-get, from now on."""
        self.tool("id", "#!/bin/sh\necho 0\n")
        self.tool("apt-get", FAKE_APT)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout with nothing in the environment but PATH, the log and what is given."""
        env = {"PATH": str(self.tools), "FAKE_LOG": str(self.log), "LC_ALL": "C", **environment}
        return subprocess.run(
            [str(self.tools / command[0]), *command[1:]],
            cwd=self.root,
            env=env,
            encoding="utf-8",
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def set_up(self, *needs: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run set-up by itself."""
        return self.run("sh", "tb/setup.sh", *needs, **environment)

    def make(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run make."""
        return self.run("make", *words, **environment)

    def calls(self, beginning: str = "") -> list[str]:
        """Return the calls so far, in order, as `<word><word>`, and empty the log."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line for line in lines if line.startswith(beginning)]

    @property
    def stamp(self) -> Path:
        """File that set-up writes last."""
        return self.root / ".venv" / "sanlab.stamp"


def words(line: str) -> list[str]:
    """Return a noted call as its arguments."""
    return line.removeprefix("<").removesuffix(">").split("><")


def environment_without_make() -> dict[str, str]:
    """Return the environment of this process without the variables of an outer make."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}

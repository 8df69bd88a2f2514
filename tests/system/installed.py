"""Virtual environment with sanlab installed from its wheel, and a user's folder outside the checkout.

No network is used: the environment sees the packages of the environment that runs the tests, and builds are shared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tb.build.store import STORE
from tb.tools.paths import ROOT
from tests.patience import PATIENCE_S

PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation")
OWN = ("SANLAB_OUT", "SANLAB_PATH", "PYTHONPATH")


class Environment:
    """Virtual environment, and a user's folder beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = folder / "my work"
        self.bin = folder / "venv" / "bin"
        self.user.mkdir(parents=True)
        for name in ("tb", "firmware"):  # the user's own folder, which must not be confused with ours
            (self.user / name).mkdir()
            (self.user / name / "__init__.py").write_text("raise SystemExit('not sanlab')\n", encoding="utf-8")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        (self.site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    @property
    def site(self) -> Path:
        """Folder of installed packages."""
        (found,) = (self.folder / "venv" / "lib").glob("python*/site-packages")
        return found

    def install(self, *what: str) -> None:
        """Install wheels or folders."""
        python = str(self.bin / "python")  # it finds the pip of the environment that runs the tests
        subprocess.run([python, *PIP, "install", "-q", *OFFLINE, *what], check=True)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the user's folder."""
        env, command = self._environment(environment), [str(self.bin / words[0]), *words[1:]]
        return subprocess.run(
            command, cwd=self.user, env=env, encoding="utf-8", capture_output=True, check=False, timeout=PATIENCE_S
        )

    @contextmanager
    def running(self, *words: str) -> Iterator[None]:
        """Run a program of the environment in the user's folder during the `with` block."""
        process = subprocess.Popen(
            [str(self.bin / words[0]), *words[1:]],
            cwd=self.user,
            env=self._environment({}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name not in OWN}
        return {**env, "SANLAB_BUILDS": str(STORE), **more}


def wheel_of(source: Path, folder: Path, how: Sequence[str] = OFFLINE) -> Path:
    """Build and return the wheel of a folder with a pyproject.toml."""
    subprocess.run([sys.executable, *PIP, "wheel", "-q", *how, "-w", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def sanlab_wheel(folder: Path) -> Path:
    """Build and return the wheel of this checkout."""
    return wheel_of(ROOT, folder)

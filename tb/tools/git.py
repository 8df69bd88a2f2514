"""Queries to git about the repository of a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tb.tools.programs import ToolError

REMEDY = "run this command in a git checkout"
PATIENCE_S = 60


def git(folder: Path, *words: str) -> str:
    """Return the output of a git command about the repository of a folder.

    Environment variables that name another repository are ignored.

    Args:
        folder: Folder in the repository.
        words: Arguments of git.

    Raises:
        ToolError: git is missing, takes longer than a minute, or fails.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=PATIENCE_S)
    except subprocess.CalledProcessError as error:
        cause = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise ToolError(f"git {words[0]} failed", cause or f"exit code {error.returncode}", REMEDY) from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"git {words[0]} failed", f"no answer within {PATIENCE_S} s", REMEDY) from None
    except OSError as error:
        raise ToolError("git failed to start", str(error.strerror), REMEDY) from None
    return done.stdout.decode(errors="replace")

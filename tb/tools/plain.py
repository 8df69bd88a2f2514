"""Alternative names of files for programs that do not accept every path.

Verilator writes makefiles and make calls a shell, so a space, `#`, `$` or quote in a path breaks a build. `:`, `,` and
`;` separate paths in variables of the loader, Python and cocotb. A symbolic link with a plain name replaces such a
path. make resolves links, so it runs in a plain folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

PLAIN = re.compile(r"[\w./+-]*", re.ASCII)
"""Pattern of paths that all programs accept."""


def plain(path: Path) -> Path:
    """Return a path to the same file or folder that all programs accept.

    A path without special characters is returned unchanged. Otherwise a link to its folder is made below the folder for
    temporary files, always the same link for the same folder. Only a plain last part keeps its name.
    """
    if PLAIN.fullmatch(str(path)):
        return path
    if PLAIN.fullmatch(path.name) and path.name:
        return plain(path.parent) / path.name
    link = plain_folder() / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    with suppress(FileExistsError):
        link.symlink_to(path)
    return link


def plain_folder() -> Path:
    """Return this user's own folder with a plain path, below the folder for temporary files."""
    for place in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108 - the owner is checked
        folder = Path(place, f"sanlab-{os.getuid()}")
        if not PLAIN.fullmatch(place):
            continue
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            state = folder.lstat()
            if state.st_uid == os.getuid() and state.st_mode & 0o170777 == 0o040700:
                return folder
    return Path(tempfile.mkdtemp(prefix="sanlab-"))

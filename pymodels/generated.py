"""Generated tables and firmware images of a message layer, compressed together in `generated.bz2`.

The file holds texts by name. Each text is addressed by the path that it would have as a file, such as
`firmware/epos/nic/executed.toml`. A file at that path takes precedence over the text; an empty file requests that the
table or image is generated. `sanlab costs --print LAYER` and `bzcat` print the texts.

bzip2 compresses equal texts to equal bytes on every machine, and its checksums detect damage.
"""

from __future__ import annotations

import bz2
import os
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.roots import TREE
from pymodels.toml import parsed, read_text

NAME = "generated.bz2"
COMPRESSED = ("executed.toml", "composed.toml", "composed.*.toml", "firmware.*.toml")
"""Names of the texts that are kept in `generated.bz2`."""
BYHAND = "byhand"
"""Folder with hand-written path tables for the tests of a layer."""
SHARING = ("nic", "host", BYHAND)
"""Subfolders of a layer that share the layer's `generated.bz2`."""
HEAD = re.compile(r"^==== (\S+)\n", re.MULTILINE)
"""Separator line before each text, with its path relative to the folder of `generated.bz2`."""


class GeneratedError(SanlabError):
    """Missing or damaged `generated.bz2`."""

    exit_code = EXIT_CONFIGURATION


def is_compressed(file: Path) -> bool:
    """Return True if the text of this path is kept in `generated.bz2`."""
    return BYHAND in file.parts[-3:] or any(fnmatch(file.name, pattern) for pattern in COMPRESSED)


def where(file: Path) -> tuple[Path, str]:
    """Return the `generated.bz2` that contains the text of a path, and the text's name in it."""
    folder = next(folder for folder in file.parents if folder.name not in SHARING)
    return folder / NAME, file.relative_to(folder).as_posix()


def texts(archive: Path) -> Mapping[str, str]:
    """Return the texts of a `generated.bz2` by name; empty if the file is missing. Raises GeneratedError if it is
    damaged.
    """
    try:
        state = archive.stat()
    except FileNotFoundError:
        return {}
    return _texts(archive, state.st_size, state.st_mtime_ns)


@lru_cache(64)
def _texts(archive: Path, size: int, changed: int) -> Mapping[str, str]:
    try:
        return unpacked(archive.read_bytes())
    except (OSError, ValueError, EOFError) as error:
        remedy = "take the committed one, or remove it and run `sanlab costs` and `sanlab firmware` for the layer"
        raise GeneratedError(_shown(archive), f"is damaged ({error})", remedy) from error


def packed(found: Mapping[str, str]) -> bytes:
    """Return the content of a `generated.bz2` with these texts. Raises ValueError if a text contains a separator
    line.
    """
    for name, text in found.items():
        if HEAD.search(text) or re.search(r"\s", name):
            raise ValueError(f"{name}: a line begins with ====, or the name has a space")
    return bz2.compress("".join(f"==== {name}\n{found[name]}" for name in sorted(found)).encode())


def unpacked(content: bytes) -> dict[str, str]:
    """Return the texts in the content of a `generated.bz2`. Raises OSError or ValueError if it is damaged."""
    before, *parts = HEAD.split(bz2.decompress(content).decode())
    if before or not parts:
        raise ValueError("no line ==== at its start")
    return dict(zip(parts[::2], parts[1::2], strict=True))


def found(file: Path) -> str | None:
    """Return the text of a path, from the file or else from `generated.bz2`; None if both lack it. Raises
    GeneratedError if `generated.bz2` is damaged.
    """
    if file.exists():
        return read_text(file)
    archive, name = where(file)
    return texts(archive).get(name)


def table(file: Path) -> dict[str, Any]:
    """Return the TOML table of a path. Raises GeneratedError if it is missing, ConfigError if it is not valid TOML."""
    text = found(file)
    if text is None:
        archive, name = where(file)
        raise GeneratedError(_shown(archive), f"has no {name}", "generate it: `sanlab costs` or `sanlab firmware`")
    return parsed(file, text)


def keep(file: Path, text: str) -> None:
    """Replace the text of a path in its `generated.bz2` atomically, and remove a file at that path."""
    archive, name = where(file)
    part = archive.with_name(f"{archive.name}.part")
    part.write_bytes(packed({**texts(archive), name: text}))
    os.replace(part, archive)
    file.unlink(missing_ok=True)


def _shown(archive: Path) -> str:
    return str(archive.relative_to(TREE) if archive.is_relative_to(TREE) else archive)

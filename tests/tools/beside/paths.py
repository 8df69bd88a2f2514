"""Paths of a layer, compiled for the local machine, that run on a state given word by word."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from pymodels.costs.sources import FIRMWARE
from tb.tools.programs import CC

HERE = Path(__file__).parent
GIVEN = re.compile(r"struct given \{(.*?)\} given;", re.DOTALL)


class Paths:
    """Library built from a file in this folder that includes the layer's `paths.c`."""

    def __init__(self, sources: Path, folder: Path) -> None:
        """Compile the layer's NIC folder `sources`, or a copy of it, into a library in `folder`."""
        source = HERE / f"{sources.parent.name}.c"
        library = folder / f"{source.stem}.so"
        include = [f"-I{FIRMWARE}", f"-I{sources}"]
        command = [CC, "-std=gnu11", "-O1", "-w", "-shared", "-fPIC", *include, "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(library))
        text = source.read_text(encoding="utf-8")
        (declared,) = GIVEN.findall(text)
        self._names = re.findall(r"\w+(?=[,;])", declared)
        self.paths = frozenset(re.findall(r"run_(\w+)\(void\)", text))
        self._runs = {path: self._library[f"run_{path}"] for path in self.paths}
        for run in self._runs.values():
            run.restype = ctypes.c_char_p

    def words(self, name: str, count: int) -> ctypes.Array[ctypes.c_uint32]:
        """Return words of the memory that the paths access."""
        return (ctypes.c_uint32 * count).in_dll(self._library, name)

    def put(self, name: str, words: Sequence[int]) -> None:
        """Fill words of memory."""
        self.words(name, len(words))[:] = list(words)

    def run(self, path: str, given: Mapping[str, int]) -> tuple[str, list[int]]:
        """Run a path; return the reason for leaving it, or an empty string, and its outputs."""
        unknown = given.keys() - set(self._names)
        assert not unknown, f"struct given has no {unknown}"
        self.put("given", [given.get(name, 0) & 0xFFFFFFFF for name in self._names])
        off = self._runs[path]()
        return (off or b"").decode(), list(self.words("out", 8))

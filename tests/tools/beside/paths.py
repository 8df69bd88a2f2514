"""The paths of a layer, compiled for this machine: they run on a state that is given word by word."""

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
    """A library that is made of a file here, which includes `paths.c` of a layer."""

    def __init__(self, sources: Path, folder: Path) -> None:
        """`sources`: the layer's folder on the NIC, or a copy of it; `folder`: where the library is put."""
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
        """Words of memory that the paths see."""
        return (ctypes.c_uint32 * count).in_dll(self._library, name)

    def put(self, name: str, words: Sequence[int]) -> None:
        """Fill words of memory."""
        self.words(name, len(words))[:] = list(words)

    def run(self, path: str, given: Mapping[str, int]) -> tuple[str, list[int]]:
        """Why the path was left, or nothing; and what it says."""
        unknown = given.keys() - set(self._names)
        assert not unknown, f"struct given has no {unknown}"
        self.put("given", [given.get(name, 0) & 0xFFFFFFFF for name in self._names])
        off = self._runs[path]()
        return (off or b"").decode(), list(self.words("out", 8))

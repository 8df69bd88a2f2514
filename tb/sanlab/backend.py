"""Makes the wheel: `pip install .` and `pip wheel .` call this file (PEP 517, PEP 660). It needs nothing but Python.

The wheel installs one package, `sanlab`: this folder, and under `sanlab/_tree` the folders that it works with. They are
no packages of their own, so no other name is taken. An editable installation is a stub that leads to the checkout.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TREE = ("pymodels", "firmware", "tb", "hdl")
"""Folders that the wheel carries."""
BESIDE = ("README.md", "LICENSE")
"""Files that it carries beside them."""
LIBRARY = "tb/sanlab/"
STUB = '''"""sanlab of the checkout {root}."""

__path__ = [{folder!r}]
with open({init!r}, encoding="utf-8") as file:
    exec(compile(file.read(), file.name, "exec"))
'''
Files = Mapping[str, bytes]
"""What a wheel holds, by name."""


def build_wheel(folder: str, settings: object = None, metadata: object = None) -> str:
    """Write the wheel; its name."""
    carried = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _sources()}
    library = {f"sanlab/{name.removeprefix(LIBRARY)}": text for name, text in carried.items() if LIBRARY in name}
    return _write(Path(folder), {**library, **{f"sanlab/_tree/{name}": text for name, text in carried.items()}})


def build_editable(folder: str, settings: object = None, metadata: object = None) -> str:
    """Write a wheel that leads to this checkout; its name."""
    here = ROOT / LIBRARY
    stub = STUB.format(root=ROOT, folder=str(here), init=str(here / "__init__.py"))
    return _write(Path(folder), {"sanlab/__init__.py": stub.encode()})


def build_sdist(folder: str, settings: object = None) -> str:
    """Write what a wheel can be made of; its name."""
    name = f"sanlab-{_project()['version']}"
    with tarfile.open(Path(folder) / f"{name}.tar.gz", "w:gz") as archive:
        for path in [*_sources(), ROOT / "pyproject.toml"]:
            archive.add(path, f"{name}/{path.relative_to(ROOT)}")
        information = tarfile.TarInfo(f"{name}/PKG-INFO")
        text = _metadata(_project())
        information.size = len(text)
        archive.addfile(information, io.BytesIO(text))
    return f"{name}.tar.gz"


def _sources() -> Iterator[Path]:
    """The files that a wheel carries."""
    yield from (ROOT / name for name in BESIDE)
    for top in TREE:
        for path in sorted((ROOT / top).rglob("*")):
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)
            if path.is_file() and not hidden:
                yield path


def _project() -> dict[str, Any]:
    """The project's own section of pyproject.toml."""
    parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    data: dict[str, Any] = parser.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return data


def _write(folder: Path, files: Files) -> str:
    """A wheel with these files, what is known of the project, and the list of all with their hashes."""
    project = _project()
    about = f"sanlab-{project['version']}.dist-info"
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    whole = {
        **files,
        f"{about}/METADATA": _metadata(project),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: sanlab\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
    }
    rows = [f"{name},sha256={_hash(text)},{len(text)}" for name, text in whole.items()]
    record = f"{about}/RECORD"
    name = f"sanlab-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, text in {**whole, record: "\n".join([*rows, f"{record},,", ""]).encode()}.items():
            wheel.writestr(
                zipfile.ZipInfo(place), text, zipfile.ZIP_DEFLATED
            )  # without the time: equal files, equal wheel
    return name


def _hash(text: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


def _metadata(project: Mapping[str, Any]) -> bytes:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines).encode()

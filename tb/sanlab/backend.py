"""PEP 517 and PEP 660 build backend for `pip install .` and `pip wheel .`; needs only Python.

The wheel installs one package, `sanlab`: this folder, and below `sanlab/_tree` the folders that it uses. These are not
packages of their own, so that no other name is occupied. An editable installation is a stub that refers to the
checkout.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TREE = ("pymodels", "firmware", "tb", "hdl")
"""Folders in the wheel."""
BESIDE = ("README.md", "LICENSE")
"""Further files in the wheel."""
INFORMATION = "PKG-INFO"
"""Metadata file of a source distribution."""
DESCRIBED = re.compile(r"v(.+)-(\d+)-(g[0-9a-f]+)")
"""Output of `git describe`: tag, commits since then, commit."""
LIBRARY = "tb/sanlab/"
STUB = '''"""sanlab of the checkout {root}."""

__path__ = [{folder!r}]
with open({init!r}, encoding="utf-8") as file:
    exec(compile(file.read(), file.name, "exec"))
'''
Files = Mapping[str, bytes]
"""Files of a wheel by name."""


def build_wheel(folder: str, settings: object = None, metadata: object = None) -> str:
    """Write the wheel and return its name."""
    carried = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _sources()}
    library = {f"sanlab/{name.removeprefix(LIBRARY)}": text for name, text in carried.items() if LIBRARY in name}
    tree = {f"sanlab/_tree/{name}": text for name, text in carried.items()}
    return wheel(Path(folder), project(), {**library, **tree})


def build_editable(folder: str, settings: object = None, metadata: object = None) -> str:
    """Write a wheel that refers to this checkout and return its name."""
    here = ROOT / LIBRARY
    stub = STUB.format(root=ROOT, folder=str(here), init=str(here / "__init__.py"))
    return wheel(Path(folder), project(), {"sanlab/__init__.py": stub.encode()})


def build_sdist(folder: str, settings: object = None) -> str:
    """Write a source distribution and return its name."""
    name = f"sanlab-{project()['version']}"
    with tarfile.open(Path(folder) / f"{name}.tar.gz", "w:gz") as archive:
        for path in [*_sources(), ROOT / "pyproject.toml"]:
            archive.add(path, f"{name}/{path.relative_to(ROOT)}")
        information = tarfile.TarInfo(f"{name}/{INFORMATION}")
        text = _metadata(project())
        information.size = len(text)
        archive.addfile(information, io.BytesIO(text))
    return f"{name}.tar.gz"


def _sources() -> Iterator[Path]:
    """Yield the files of the wheel."""
    yield from (ROOT / name for name in BESIDE)
    for top in TREE:
        for path in sorted((ROOT / top).rglob("*")):
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)
            if path.is_file() and not hidden:
                yield path


def project() -> dict[str, Any]:
    """Return the `project` table of pyproject.toml, with the version."""
    return {**_settings(ROOT)["project"], "version": version(ROOT)}


def release(root: Path = ROOT) -> str:
    """Return the version of the last or coming release, from pyproject.toml."""
    return str(_settings(root)["tool"]["sanlab"]["version"])


def version(root: Path) -> str:
    """Return the version of the sources in a folder.

    A source distribution has the version of its PKG-INFO. A checkout has that of its last tag, `v1.2.0`, with the
    number of later commits and the commit: `1.2.0.post3+g1a2b3c4`. Sources without either have that of `release`.
    """
    information = root / INFORMATION
    if information.is_file():
        (named,) = re.findall(r"^Version: (\S+)$", information.read_text(encoding="utf-8"), re.MULTILINE)[:1]
        return str(named)
    found = DESCRIBED.fullmatch(_described(root)) if (root / ".git").exists() else None
    if found is None:
        return release(root)
    tag, later, commit = found.groups()
    return tag if later == "0" else f"{tag}.post{later}+{commit}"


def _described(root: Path) -> str:
    """Return the output of `git describe`, or an empty text without git or tags."""
    command = ["git", "describe", "--tags", "--long", "--match", "v[0-9]*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def _settings(root: Path) -> dict[str, Any]:
    parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    data: dict[str, Any] = parser.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return data


def wheel(folder: Path, project: Mapping[str, Any], files: Files) -> str:
    """Write a wheel with files, metadata and the list of hashes, and return its name.

    Args:
        folder: Folder for the wheel.
        project: The `project` table of pyproject.toml.
        files: Content of each file by its name in the wheel.
    """
    name = f"{project['name']}-{project['version']}"
    whole = {
        **files,
        f"{name}.dist-info/METADATA": _metadata(project),
        f"{name}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: sanlab\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}.dist-info/entry_points.txt": _entry_points(project),
    }
    rows = [f"{place},sha256={_hash(text)},{len(text)}" for place, text in whole.items()]
    record = f"{name}.dist-info/RECORD"
    whole[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in whole.items():  # of no date: equal files, equal wheel
            archive.writestr(zipfile.ZipInfo(place), text, zipfile.ZIP_DEFLATED)
    return f"{name}-py3-none-any.whl"


def _entry_points(project: Mapping[str, Any]) -> bytes:
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in of.items()) for group, of in groups.items()
    ]
    return "\n".join(lines).encode()


def _hash(text: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()


def _metadata(project: Mapping[str, Any]) -> bytes:
    """Return the METADATA file: the `project` table, then the project's page."""
    told = {"Summary": "description", "License": "license", "Requires-Python": "requires-python"}
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        *(f"{name}: {project[key]}" for name, key in told.items() if key in project),
        *(f"Requires-Dist: {one}" for one in project.get("dependencies", ())),
    ]
    if "readme" in project:
        lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text(encoding="utf-8")]
    return "\n".join([*lines, ""]).encode()

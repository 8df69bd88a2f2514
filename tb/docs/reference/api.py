"""API reference, read from the sources: public classes and functions with signature and docstring.

Nothing is imported, so that modules that run inside a simulator have pages too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from firmware.layers import names as layer_names
from tb.docs.markdown import docstring
from tb.tools.paths import ROOT

PACKAGES = {
    "library": (
        "sanlab: scripts and notebooks",
        [
            "tb/sanlab/ask.py",
            "tb/sanlab/running.py",
            "tb/sanlab/sweeping.py",
            "tb/sanlab/result.py",
            "tb/sanlab/errors.py",
        ],
    ),
    "verbs": ("Verbs and descriptors of layers", ["firmware/*.py"]),
    "studies": ("Studies: the laboratory and its kit", ["tb/lab/lab.py", "tb/studies/kit/*.py", "tb/plan/options.py"]),
    "agents": ("Agents of block benches", ["tb/agents/*.py"]),
    "agents_pci": ("sanlab.agents.pci: PCI agents for any design", ["tb/sanlab/agents/pci/*.py"]),
    "agents_myrinet": ("sanlab.agents.myrinet: link agents for any design", ["tb/sanlab/agents/myrinet/*.py"]),
    "models": (
        "Models: errors, results, profiles, trace, clusters",
        ["pymodels/*.py", "pymodels/profiles/*.py", "pymodels/config/*.py"],
    ),
    "hosts": ("Hosts and processes", ["pymodels/host/*.py"]),
    "machine": ("The machine in Python", ["pymodels/machine/*.py"]),
    "common": ("Shared parts of layers", ["firmware/common/**/*.py"]),
}
"""Pages beside those of layers: title, and the modules, as patterns from the root."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
DEEPEST = 5
"""Colons of the outermost fence; each level inside has one less."""


def pages() -> dict[str, Iterator[str]]:
    """Return the lines of every page by name."""
    named = {name: _page(title, patterns) for name, (title, patterns) in PACKAGES.items()}
    layers = {f"layer_{name}": _page(f"Layer {name}", [f"firmware/{name}/**/*.py"]) for name in layer_names()}
    return {**named, **layers}


def _page(title: str, patterns: list[str]) -> Iterator[str]:
    yield from (f"# {title}", "")
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        yield from _module(path)


def module_name(path: Path) -> str:
    """Return the name by which users import a module."""
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    return name.removeprefix("tb.") if name.startswith("tb.sanlab") else name


def _module(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [line for node in tree.body for line in _object(node, DEEPEST)]
    if not lines:
        return
    name = module_name(path)
    yield from (f"## {name}", "", f"```{{py:module}} {name}", "```", "", *docstring(ast.get_docstring(tree) or ""), "")
    yield from lines


def _object(node: ast.stmt, colons: int, inside: str = "") -> Iterator[str]:
    """Yield the description of a class or function; nothing for a private one."""
    if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
        return
    if not isinstance(node, ast.ClassDef) and "setter" in _decorators(node):
        return
    fence = ":" * colons
    if isinstance(node, ast.ClassDef):
        yield from (f"{fence}{{py:class}} {node.name}{_bases(node)}", "", *_about(node))
        yield from _attributes(node)
        for one in node.body:
            yield from _object(one, colons - 1, node.name)
    else:
        yield from (f"{fence}{{py:{_kind(node, inside)}}} {node.name}{_signature(node, inside)}", *_options(node))
        yield from ("", *_about(node))
    yield from (fence, "")


def _about(node: ast.ClassDef | Function) -> Iterator[str]:
    yield from docstring(ast.get_docstring(node) or "")
    yield ""


def _bases(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    return f"({bases})" if bases else ""


def _decorators(node: Function) -> set[str]:
    return {ast.unparse(one).rpartition(".")[2] for one in node.decorator_list}


def _kind(node: Function, inside: str) -> str:
    if not inside:
        return "function"
    return "property" if _decorators(node) & {"property", "cached_property"} else "method"


def _options(node: Function) -> Iterator[str]:
    if "property" in _decorators(node):
        if node.returns is not None:
            yield f":type: {ast.unparse(node.returns)}"
        return
    if isinstance(node, ast.AsyncFunctionDef):
        yield ":async:"
    for name in ("classmethod", "staticmethod"):
        if name in _decorators(node):
            yield f":{name}:"


def _signature(node: Function, inside: str) -> str:
    """Return the signature without `self`; empty for a property."""
    if _kind(node, inside) == "property":
        return ""
    arguments = ast.unparse(node.args)
    if inside and "staticmethod" not in _decorators(node):
        first, _, rest = arguments.partition(", ")
        arguments = rest if first in {"self", "cls", "/"} else arguments
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"({arguments.removeprefix('/, ')}){returns}"


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    """Yield the documented attributes of a class as a list: name, type, and the docstring below."""
    for one, below in zip(node.body, node.body[1:], strict=False):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_"):
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            about = " ".join(docstring(str(text).replace("\n", " "))).strip() if text else ""
            yield f"- `{one.target.id}`: `{ast.unparse(one.annotation)}`{f': {about}' if about else ''}"
    yield ""

"""The promised API: the names of `tb/sanlab/promised.toml` with their arguments, compared with the last release.

`python -m tb.docs.promised` lists what is broken since `tb/sanlab/promised.txt`; `--write` writes that file.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterable, Iterator, Sequence

from pymodels.toml import read_toml
from tb.docs.reference.api import Function, module_name
from tb.tools.paths import ROOT

NAMES = ROOT / "tb" / "sanlab" / "promised.toml"
RELEASED = ROOT / "tb" / "sanlab" / "promised.txt"


def surface() -> list[str]:
    """Return every promised name with its arguments, sorted. Raises LookupError for a name that is missing."""
    found: list[str] = []
    for place, names in read_toml(NAMES)[0].items():
        nodes = {_name(node): node for node in ast.parse((ROOT / place).read_text(encoding="utf-8")).body}
        module = module_name(ROOT / place)
        if place.startswith("tb/sanlab/"):  # a name of the package, which imports it
            module = module.rpartition(".")[0]
        for name in names:
            if name not in nodes:
                raise LookupError(f"promised.toml: {place} has no {name}")
            found += _lines(nodes[name], f"{module}.{name}")
    return sorted(found)


def _name(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.ClassDef | Function) else ""


def _lines(node: ast.stmt, name: str) -> Iterator[str]:
    if isinstance(node, Function):
        is_property = any(ast.unparse(one).endswith("property") for one in node.decorator_list)
        yield name if is_property else f"{name}({', '.join(_arguments(node))})"
    elif isinstance(node, ast.ClassDef):
        yield name
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and not (field := ast.unparse(one.target)).startswith("_"):
                yield f"{name}.{field}"
            elif isinstance(one, Function) and not one.name.startswith("_"):
                yield from _lines(one, f"{name}.{one.name}")


def _arguments(node: Function) -> Iterator[str]:
    """Yield the names of arguments; `=` marks one with a default, stars those that collect."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    needed = len(plain) - len(given.defaults)
    for at, one in enumerate(plain):
        if one.arg not in {"self", "cls"}:
            yield one.arg + ("=" if at >= needed else "")
    if given.vararg:
        yield f"*{given.vararg.arg}"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield one.arg + ("=" if default is not None else "")
    if given.kwarg:
        yield f"**{given.kwarg.arg}"


def broken(released: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return a line for each promise of the last release that the sources no longer keep."""
    present = dict(map(_split, now))
    found = []
    for name, arguments in map(_split, released):
        if name not in present:
            found.append(f"{name}: missing")
            continue
        bare = {one.rstrip("=") for one in arguments}
        gone = [one for one in bare if one not in {other.rstrip("=") for other in present[name]}]
        new = [one for one in present[name] if one not in bare and not one.endswith("=") and not one.startswith("*")]
        now_needed = [one for one in arguments if one.endswith("=") and one.rstrip("=") in present[name]]
        found += [f"{name}: argument {one} is missing" for one in sorted(gone)]
        found += [f"{name}: argument {one} has no default" for one in (*new, *now_needed)]
    return found


def _split(line: str) -> tuple[str, list[str]]:
    name, _, arguments = line.partition("(")
    return name, [one for one in arguments.rstrip(")").split(", ") if one]


def main(arguments: Sequence[str]) -> int:
    """Compare with the last release, or write its list; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tb.docs.promised", description="Compare the promised API.")
    parser.add_argument("--write", action="store_true", help="write the list of this release")
    if parser.parse_args(arguments).write:
        RELEASED.write_text("\n".join(surface()) + "\n", encoding="utf-8")
        return 0
    found = broken(RELEASED.read_text(encoding="utf-8").splitlines(), surface())
    print("\n".join(found) or "all promises are kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Index of errors: every place in the sources that creates a SanlabError, with the pattern of its message.

The sources are parsed, not imported. A pattern is the text of an f-string with each expression in angle
brackets. A local name is replaced by the texts that its function assigns to it. A function that gets cause and
remedy as arguments, such as `error(what, cause, remedy)`, is replaced by its calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from tb.docs.markdown import code, escape, table
from tb.tools.paths import ROOT

BASE = "SanlabError"
CARRIER = "Misuse"
"""Name of internal exceptions that carry the text of an error to the place that knows its subject."""
FOLDERS = ("pymodels", "firmware", "tb")
PARTS = ("what", "cause", "remedy")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MOST_TEXTS = 4
"""Alternatives of one pattern that are listed; more become the name of the variable."""
Texts = Mapping[str, str]
"""Patterns of local names."""
Functions = Mapping[str, list[ast.AST]]
"""Functions of all sources by name."""


class Site(NamedTuple):
    """A place that creates an error."""

    error: str
    place: str
    """File of the place."""
    parts: tuple[str, ...]
    """Patterns of subject, cause and remedy, as far as the arguments show them."""


def sources() -> dict[str, ast.Module]:
    """Return the syntax trees of all sources, by path from the root."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in found}


def classes(trees: Mapping[str, ast.Module]) -> dict[str, ast.ClassDef]:
    """Return SanlabError and the classes below it, by name."""
    every = [node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)]
    known = {node.name: node for node in every if node.name in {BASE, CARRIER}}
    while True:
        more = {node.name: node for node in every if node.name not in known and _bases(node) & known.keys()}
        if not more:
            return known
        known.update(more)


def _bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}


class Use(NamedTuple):
    """A call of a function."""

    place: str
    """File of the call."""
    call: ast.Call
    texts: Texts
    """Patterns of the names at the call."""


def sites(trees: Mapping[str, ast.Module]) -> Iterator[Site]:
    """Yield every creation of an error, in the order of files and lines."""
    known = classes(trees)
    uses = _uses(trees)
    functions = _functions(trees)
    for place, tree in trees.items():
        for scope in ast.walk(tree):
            if isinstance(scope, FUNCTIONS):
                texts = _texts(scope)
                for node in _own(scope):
                    if isinstance(node, ast.Call) and (name := _called(node)) in known:
                        made = (
                            Site(name, place, _parts(call, _constructor(name, known), {**texts, **more}))
                            for call, more in _unpacked(node, scope, functions)
                        )
                        for site in dict.fromkeys(made):
                            yield from _at_calls(site, scope, uses) or [site]


def _functions(trees: Mapping[str, ast.Module]) -> dict[str, list[ast.AST]]:
    """Return the functions of all sources by name."""
    found: dict[str, list[ast.AST]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                found.setdefault(node.name, []).append(node)
    return found


def _unpacked(call: ast.Call, scope: ast.AST, functions: Functions) -> Iterator[tuple[ast.Call, Texts]]:
    """Yield a call for each tuple that its starred argument may be, with the names known there, or the call itself."""
    stars = [at for at, one in enumerate(call.args) if isinstance(one, ast.Starred)]
    if len(stars) != 1:
        yield call, {}
        return
    before, starred, after = call.args[: stars[0]], call.args[stars[0]], call.args[stars[0] + 1 :]
    tuples = _tuples(starred.value, scope, functions) if isinstance(starred, ast.Starred) else []
    for found, body in tuples:
        yield ast.Call(call.func, [*before, *found.elts, *after], call.keywords), _texts(body)
    if not tuples:
        yield call, {}


def _tuples(value: ast.expr, scope: ast.AST, functions: Functions, depth: int = 4) -> list[tuple[ast.Tuple, ast.AST]]:
    """Return the tuples that an expression may be, assigned in its function or returned by a called one, with that."""
    ends: list[tuple[ast.expr, ast.AST]] = []
    match value:
        case ast.Tuple():
            return [(value, scope)]
        case ast.Name(id=name):
            nodes = [node for node in _own(scope) if isinstance(node, ast.Assign | ast.NamedExpr)]
            ends = [(node.value, scope) for node in nodes if name in _names_set(node)]
        case ast.BoolOp(values=values):
            ends = [(one, scope) for one in values]
        case ast.Call():
            for body in functions.get(_called(value), ()):
                returned = (node.value for node in _own(body) if isinstance(node, ast.Return))
                ends += [(one, body) for one in returned if one is not None]
    return [found for one, body in ends if depth for found in _tuples(one, body, functions, depth - 1)]


def _names_set(node: ast.Assign | ast.NamedExpr) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {one.id for one in targets if isinstance(one, ast.Name)}


def _uses(trees: Mapping[str, ast.Module]) -> dict[str, list[Use]]:
    """Return the calls inside functions, by the name of the called function."""
    found: dict[str, list[Use]] = {}
    for place, tree in trees.items():
        for scope in ast.walk(tree):
            if isinstance(scope, FUNCTIONS):
                texts = _texts(scope)
                for node in _own(scope):
                    if isinstance(node, ast.Call):
                        found.setdefault(_called(node), []).append(Use(place, node, texts))
    return found


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _at_calls(site: Site, scope: ast.FunctionDef | ast.AsyncFunctionDef, uses: Mapping[str, list[Use]]) -> list[Site]:
    """Return a site for each call of a function that gets `cause` and `remedy` as arguments; empty for others.

    Calls of a private function are in its file, those of a public one in its folder, with its number of arguments.
    """
    names = [one.arg for one in scope.args.args if one.arg not in {"self", "cls"}]
    if site.parts[1:2] != ("<cause>",) or not {"cause", "remedy"} <= set(names):
        return []
    needed = len(names) - len(scope.args.defaults)
    found = []
    for place, call, texts in uses.get(scope.name, ()):
        given = {one.arg: pattern(value, {}) for one, value in _defaults(scope)}
        given |= {name: pattern(one, texts) for name, one in zip(names, call.args, strict=False)}
        given |= {one.arg: pattern(one.value, texts) for one in call.keywords if one.arg}
        starred = any(isinstance(one, ast.Starred) for one in call.args)
        fits = needed <= len(call.args) + len(call.keywords) <= len(names) and given.keys() <= set(names)
        is_public = not scope.name.startswith("_")
        is_near = place == site.place or (is_public and place.rpartition("/")[0] == site.place.rpartition("/")[0])
        if fits and is_near and not starred:
            found.append(Site(site.error, place, tuple(_filled(part, given) for part in site.parts)))
    return list(dict.fromkeys(found))


def _defaults(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.arg, ast.expr]]:
    """Yield the arguments that have a default, with it."""
    yield from zip(scope.args.args[::-1], scope.args.defaults[::-1], strict=False)


def _filled(part: str, given: Texts) -> str:
    """Return a pattern in which parameters are replaced by the texts of a call."""
    for name, text in given.items():
        if part == f"<{name}>" or "|" not in text:
            part = part.replace(f"<{name}>", text)
    return part


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from _own(child)


def _constructor(name: str, known: Mapping[str, ast.ClassDef]) -> ast.FunctionDef | None:
    """Return the constructor that a class defines or inherits, below SanlabError; None for that of SanlabError."""
    while name in known and name != BASE:
        node = known[name]
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                return one
        name = next(iter(_bases(node) & known.keys()), BASE)
    return None


def _parts(call: ast.Call, constructor: ast.FunctionDef | None, texts: Texts) -> tuple[str, ...]:
    """Return the patterns of subject, cause and remedy.

    A class with a constructor of its own hands them to the one of SanlabError: there its parameters are replaced.
    """
    given = [pattern(one, texts) for one in call.args]
    named = {one.arg: pattern(one.value, texts) for one in call.keywords if one.arg}
    if constructor is None:
        return tuple([*given, *(named[part] for part in PARTS if part in named)][: len(PARTS)])
    if any(isinstance(one, ast.Starred) for one in call.args):
        return tuple(given[-1:])
    arguments = constructor.args.args[1:]
    known = {one.arg: pattern(value, {}) for one, value in _defaults(constructor)}
    known |= {one.arg: text for one, text in zip(arguments, given, strict=False)}
    known |= named
    for node in _own(constructor):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__":
            inner = {**_texts(constructor, known), **known}
            return tuple(pattern(one, inner) for one in node.args[: len(PARTS)])
    return tuple(given)


def _texts(scope: ast.AST, known: Texts = MappingProxyType({})) -> dict[str, str]:
    """Return the patterns that a function assigns to its names, alternatives separated by `|`."""
    found: dict[str, list[str]] = {}
    for node in _own(scope):
        if isinstance(node, ast.Assign):
            for name, value in _assignments(node):
                earlier = {**known, **{one: " | ".join(texts) for one, texts in found.items() if one != name}}
                found.setdefault(name, []).append(pattern(value, earlier))
    kept = {name: list(dict.fromkeys(texts)) for name, texts in found.items()}
    return {name: " | ".join(texts) for name, texts in kept.items() if len(texts) <= MOST_TEXTS}


def _assignments(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that an assignment sets, and its value."""
    target, value = node.targets[0], node.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    yield from ((name.id, text) for name, text in pairs if isinstance(name, ast.Name))


def pattern(node: ast.expr, texts: Texts) -> str:
    """Return the text of an expression as a pattern."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(pattern(part, texts) for part in parts)
        case ast.FormattedValue(value=ast.Name(id=name)) if "|" not in texts.get(name, "|"):
            return texts[name]
        case ast.FormattedValue(value=value):
            return f"<{ast.unparse(value)}>"
        case ast.IfExp(body=one, orelse=other):
            return f"{pattern(one, texts)} | {pattern(other, texts)}"
        case ast.BinOp(left=one, op=ast.Add(), right=other):
            return pattern(one, texts) + pattern(other, texts)
        case ast.Name(id=name) if name in texts:
            return texts[name]
    return f"<{ast.unparse(node)}>"


def page() -> Iterator[str]:
    """Yield the page."""
    trees = sources()
    known = classes(trees)
    found = sorted(sites(trees), key=lambda one: one.error)
    yield from ("# Errors", "", "Index of every error with a known cause, for users who look up a message.", "")
    yield "A message has the form `subject: cause; remedy`. Words in angle brackets stand for values of the run; `|`"
    yield "separates alternatives. Exit code 2 means invalid input, rejected before anything is built; 1 means that a"
    yield from (f"run failed. The index has {len(found)} places, ordered by class.", "")
    for name, members in groupby(found, key=lambda one: one.error):
        about = ast.get_docstring(known[name]) if name in known else ""
        yield from (f"## {name}", "", escape((about or "Error of the laboratory.").splitlines()[0]), "")
        rows = ((*map(code, one.parts), code(one.place)) for one in members)
        yield from table((*PARTS, "raised in"), (_padded(row) for row in rows))


def _padded(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row with empty cells before the place, where an error has fewer parts."""
    *parts, place = row
    return (*parts, *[""] * (len(PARTS) - len(parts)), place)

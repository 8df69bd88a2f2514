"""Public calls of a layer's library are methods that an editor finds: in the class, with signature and source line.

Strategy: all classes of the libraries are imported, and their public functions checked by `inspect`. Then every layer
runs on the machine, and layers with mail exchange a message. All existing objects of the libraries are searched for
calls that only the object has. The sources are searched for names without a definition.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any, get_type_hints

import pytest

import firmware
from firmware.echo.host import Echo
from firmware.grim.host.api import Api
from firmware.layers import names, with_mail
from firmware.mail import Mail
from tb.tools.paths import ROOT
from tests.unit.layers.mail_bench import MailBench

CALLS = FunctionType, MethodType, BuiltinMethodType, partial
WITHOUT_DEFINITION = {("mpi/host/types.py", "setattr"): "datatypes, each declared in the class"}
"""Files that create names at run time, by the end of their path, and why these are not calls."""


def of_a_library(module: str) -> bool:
    """Return True for a module of a host library, or of a kind of NIC that libraries share."""
    return re.match(r"firmware\.(\w+\.)?(host|nics)(\.|$)", module) is not None


def modules() -> Iterator[ModuleType]:
    """Modules of the host libraries."""
    for found in pkgutil.walk_packages(firmware.__path__, "firmware."):
        if of_a_library(found.name):
            yield importlib.import_module(found.name)


def classes() -> dict[str, type]:
    """Public classes of the host libraries, by module and name."""
    found = {}
    for module in modules():
        for name, cls in vars(module).items():
            if isinstance(cls, type) and cls.__module__ == module.__name__ and name[0] != "_":
                found[f"{module.__name__}.{name}"] = cls
    return found


CLASSES = classes()


def undefined(cls: type) -> list[str]:
    """Return the public functions of a class that have no signature, or no source line in the class."""
    file, (lines, first) = inspect.getsourcefile(cls), inspect.getsourcelines(cls)
    wrong = []
    for name, value in vars(cls).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if name[0] == "_" or not callable(function) or isinstance(function, type):
            continue
        try:
            source = inspect.unwrap(function)
            inspect.signature(function)
            line = inspect.getsourcelines(source)[1]
        except (TypeError, ValueError, OSError):
            wrong.append(name)
            continue
        if inspect.getsourcefile(source) != file or not first < line < first + len(lines) or source.__name__ != name:
            wrong.append(name)
    return wrong


def test_many_classes_of_every_layer_are_searched() -> None:
    layers = {match[1] or match[2] for name in CLASSES if (match := re.match(r"firmware\.(?:host\.(\w+)|(\w+))", name))}
    assert set(names()) <= layers and len(CLASSES) > 300


@pytest.mark.parametrize("name", CLASSES)
def test_each_public_call_of_a_class_is_defined_in_it(name: str) -> None:
    if getattr(CLASSES[name], "_fields", None) is None and not hasattr(CLASSES[name], "__members__"):
        assert undefined(CLASSES[name]) == []


def only_of_the_object(one: object) -> list[str]:
    """Return the public calls that an object has and its class does not define or declare."""
    return [
        name
        for name, value in vars(one).items()
        if name[0] != "_" and isinstance(value, CALLS) and name not in declared(type(one))
    ]


def declared(cls: type) -> set[str]:
    """Return the attributes of a class that hold functions of its user: annotated, or parameters of `__init__`."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("firmware.")]
    text = "".join(map(inspect.getsource, bases))
    fields = {name for base in bases for name in vars(base).get("__annotations__", {})}
    return fields | set(inspect.signature(cls).parameters) | set(re.findall(r"self\.(\w+): [^\n]*Callable\b", text))


async def _exchange(mail: Mail, me: int) -> None:
    if me:
        await mail.answer()
    else:
        assert await mail.request(1, b"four") == b"four"
    await mail.finish()


def objects(layer: str) -> Iterator[Any]:
    """Run a layer on two hosts and return the objects of libraries that can be reached from its own."""
    bench = MailBench(layer) if layer in with_mail() else MailBench(layer, mails=False)
    if bench.mails:
        bench.run(*(_exchange(mail, me) for me, mail in enumerate(bench.mails)))
    found, rest = dict[int, Any](), list[Any]([bench.libraries, bench.mails])
    while rest:
        one = rest.pop()
        if id(one) in found or isinstance(one, type | ModuleType | FunctionType):
            continue
        found[id(one)] = one
        rest += gc.get_referents(one)
        if of_a_library(type(one).__module__) and hasattr(one, "__dict__"):
            yield one


@pytest.mark.parametrize("layer", names())
def test_no_call_is_defined_only_in_an_object(layer: str) -> None:
    found = {f"{type(one).__name__}.{name}" for one in objects(layer) for name in ("", *only_of_the_object(one))}
    assert found and {name for name in found if name[-1] != "."} == set()


def made_names(path: Path) -> Iterator[str]:
    """Yield the ways in which a file creates names without a definition."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == "__getattr__":
            yield node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            yield node.func.id
        if isinstance(node, ast.ClassDef):
            yield from (ast.unparse(one) for one in node.body if _bound(one))


def _bound(statement: ast.stmt) -> bool:
    """Return True for a class attribute that is a lambda."""
    return isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Lambda)


def test_no_name_of_a_library_is_created_at_run_time() -> None:
    files = {Path(module.__file__) for module in modules() if module.__file__}
    found = {(str(file.relative_to(ROOT / "firmware")), how) for file in files for how in made_names(file)}
    excused = {one for one in found if any(one[0].endswith(end) and one[1] == how for end, how in WITHOUT_DEFINITION)}
    assert found - excused == set()
    assert len(excused) == len(WITHOUT_DEFINITION)


def test_a_call_defined_only_in_an_object_is_found() -> None:
    echo = Echo.__new__(Echo)
    echo.shout = print  # type: ignore[attr-defined]
    assert only_of_the_object(echo) == ["shout"]


class _Copied:
    """Class with a call of another class, and a call without a name of its own."""

    again = Echo.send
    here = lambda self: self  # noqa: E731


def test_a_call_copied_from_another_class_is_found() -> None:
    assert undefined(_Copied) == ["again", "here"]


PART_NAMES = "nodes", "database", "messages", "memory", "reserved", "trees", "cards"
PARTS = {
    part: get_type_hints(Api)[part]
    for part in ("nodes", "database", "messages", "memory", "reserved", "trees", "cards")
}


def test_calls_of_grim_have_the_parameters_of_its_parts() -> None:
    calls = [name for name, value in vars(Api).items() if name[0] != "_" and callable(value)]
    for name in calls:
        (part,) = [cls for cls in PARTS.values() if hasattr(cls, name)]
        here, there = inspect.signature(getattr(Api, name)), inspect.signature(getattr(part, name))
        assert here.parameters == there.parameters, name
    assert len(calls) == 35

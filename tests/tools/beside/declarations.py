"""C declarations of a layer as ctypes: structures, and paths with their parameters."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

NUMBERS: dict[str, Any] = {
    "void": None,
    "char": ctypes.c_uint8,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "int": ctypes.c_int32,
    "u64_words": ctypes.c_uint64,
}
IGNORED = {"const", "volatile", "unsigned"}
TOKEN = re.compile(r'"(?:\\.|[^"])*"|\w+|\S')


@dataclass(frozen=True)
class Type:
    """Number, structure, pointer to one, or array of those."""

    base: Any
    """Class of ctypes; None: void."""
    stars: int = 0
    dims: tuple[int, ...] = ()

    @property
    def c(self) -> Any:
        """Type in memory; a pointer is a number."""
        found = ctypes.c_uint64 if self.stars else self.base
        for dim in reversed(self.dims):
            found = found * dim
        return found

    @property
    def inner(self) -> Type:
        """Target type of a pointer, or element type of an array."""
        return Type(self.base, self.stars, self.dims[1:]) if self.dims else Type(self.base, self.stars - 1)


class Declarations:
    """Structures by name with their fields, and paths with result and parameters."""

    def __init__(self, text: str) -> None:
        """Parse preprocessed C."""
        self.structs: dict[str, Any] = {}
        self.fields: dict[Any, dict[str, Type]] = {}
        self.paths: dict[str, tuple[Type, list[Type]]] = {}
        for tokens in _split([word for word in TOKEN.findall(text) if word not in IGNORED], ";"):
            if tokens[0] == "struct" and tokens[2] == "{":
                self._base(tokens)
            elif tokens[-1] == "}" and tokens[0] not in ("static", "typedef", "enum"):
                opened, closed = tokens.index("("), tokens.index(")")
                ((name, result),) = self._declared(tokens[:opened])
                parts = [part for part in _split(tokens[opened + 1 : closed], ",") if part != ["void"]]
                self.paths[name] = result, [self._declared(part)[0][1] for part in parts]

    def _declared(self, tokens: list[str]) -> list[tuple[str, Type]]:
        """Return names and types of one declaration: a type, and names with stars before and dimensions after them."""
        base, rest = self._base(tokens)
        found = []
        for part in _split(rest, ","):
            names = [word for word in part if word.isidentifier()]
            dims = tuple(int(word) for word in part if word.isdigit())
            found.append((names[0], Type(base, part.count("*"), dims)))
        return found or [("", Type(base))]

    def _base(self, tokens: list[str]) -> tuple[Any, list[str]]:
        """Return the type at the beginning of a declaration, and the rest."""
        if tokens[0] not in ("struct", "union"):
            return NUMBERS[tokens[0]], tokens[1:]
        name, rest = ("", tokens[1:]) if tokens[1] == "{" else (tokens[1], tokens[2:])
        kind: Any = ctypes.Union if tokens[0] == "union" else ctypes.Structure
        made: Any = self.structs.setdefault(name, type(name, (kind,), {})) if name else type("", (kind,), {})
        if not rest or rest[0] != "{":
            return made, rest
        end = _closing(rest)
        members = [one for part in _split(rest[1:end], ";") for one in self._declared(part)]
        named = [(name or f"unnamed{number}", of) for number, (name, of) in enumerate(members)]
        made._anonymous_ = [name for name, _ in named if name.startswith("unnamed")]
        made._fields_ = [(name, of.c) for name, of in named]
        self.fields[made] = dict(named)
        for name in made._anonymous_:
            self.fields[made].update(self.fields[self.fields[made][name].base])
        return made, rest[end + 1 :]


def _closing(tokens: Sequence[str]) -> int:
    """Return the index of the bracket that closes the first token's bracket."""
    depth = 0
    for at, word in enumerate(tokens):
        depth += (word in "{(") - (word in "})")
        if not depth:
            return at
    raise ValueError("a bracket is not closed")


def _split(tokens: Sequence[str], mark: str) -> Iterator[list[str]]:
    """Yield the parts that end with a mark outside of brackets, or with the body of a function."""
    part: list[str] = []
    depth = 0
    for word in tokens:
        depth += (word in "{(") - (word in "})")
        if not depth and word == mark:
            yield part
            part = []
            continue
        part.append(word)
        if not depth and word == "}" and "(" in part and "=" not in part[: part.index("{")]:
            yield part
            part = []
    if part:
        yield part

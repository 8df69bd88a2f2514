"""Handler databases: this host's functions by name, and the cluster-wide handler numbers, which node 0 assigns (paper
003, C.4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firmware.grim.host.arguments import text, whole
from firmware.grim.host.errors import GrimError
from pymodels.errors import nearest

Handler = Callable[[int, int, int, int, int, memoryview], Any]
"""Handler function, called with (source endpoint, four signed arguments, payload). It may be async. The payload is
valid until it returns.
"""

SERVER = 0
"""Node that manages the global database."""
ABSENT, REGISTER, LIST, ASK, TELL, CARD_CONTROL, CARD_ERROR = range(1, 8)
FIND, FOUND, PLANTED, CHANGE, CHANGED, PLACE, PLACED = range(9, 16)
"""Numbers of the built-in handlers of all nodes; those from FIND on are for multicast trees."""
FIRST_NUMBER = 16
"""First number of a registered handler."""
LAST_NUMBER = 0xFFFF
MAX_NAME = 255


class Handlers:
    """Handler tables of one host."""

    def __init__(self, elsewhere: tuple[str, ...] = ()) -> None:
        """Create the tables; `elsewhere` are the circuits of this host's card, which the host registers as handlers."""
        self.elsewhere = elsewhere
        self.local: dict[str, Handler] = {}
        """Functions of this host, by name."""
        self.numbers: dict[str, int] = {}
        """Known part of the global database: number of each name."""
        self.names: dict[int, str] = {}
        self.functions: dict[int, Handler] = {}
        """Functions of this host by number, including the built-in functions."""

    def register(self, function: Handler, name: str) -> None:
        """Register a function of this host. Other hosts can use it after `sync_handlers`. Raises GrimError."""
        if not callable(function):
            raise GrimError("function", f"{function!r} is not callable", "give a function or coroutine function")
        if not text("name", name) or "\0" in name or len(name.encode()) > MAX_NAME:
            raise GrimError("name", f"{name!r} is not a valid handler name", f"give 1 to {MAX_NAME} bytes without NUL")
        if self.local.get(name, function) is not function:
            raise GrimError("name", f"{name!r} is already registered", "use a different name")
        self.local[name] = function

    def unpublished(self) -> bool:
        """Return True if functions of this host have no number, because `sync_handlers` has not completed since."""
        return any(name not in self.numbers for name in self.local)

    def merge(self, names: Mapping[str, int]) -> None:
        """Add numbers from the server to the database, and assign them to this host's functions."""
        self.numbers.update(names)
        self.names.update({number: name for name, number in names.items()})
        for name, function in self.local.items():
            if name in self.numbers:
                self.functions[self.numbers[name]] = function

    def assign(self, names: list[str]) -> None:
        """Assign numbers to new names, on the server. Raises GrimError if no number is left."""
        for name in names:
            if name not in self.numbers:
                number = FIRST_NUMBER + len(self.numbers)
                if number > LAST_NUMBER:
                    raise GrimError(
                        "name",
                        f"{name!r} would be handler {number}",
                        f"register at most {LAST_NUMBER - FIRST_NUMBER + 1}",
                    )
                self.merge({name: number})

    def check(self, number: int) -> None:
        """Raise GrimError if a number is not a known handler of an application."""
        if whole("handler", number) not in self.names:
            what = "belongs to the library" if 0 < number < FIRST_NUMBER else "is not a registered handler"
            raise GrimError("handler", f"{number} {what}", "use a number returned by resolve_handler")

    def unknown(self, name: str) -> GrimError:
        """Return the error for a name that no node has registered."""
        return GrimError("name", f"no endpoint has registered a handler {name!r}", nearest(name, self.numbers))


def encode_names(names: list[str]) -> bytes:
    """Return names as the payload of a message."""
    return "\0".join(names).encode()


def decode_names(payload: memoryview) -> list[str]:
    """Return the names in the payload of a message."""
    text = bytes(payload).decode()
    return text.split("\0") if text else []


def encode_table(numbers: Mapping[str, int]) -> bytes:
    """Return the global database as the payload of a message."""
    return encode_names([f"{number} {name}" for name, number in numbers.items()])


def decode_table(payload: memoryview) -> dict[str, int]:
    """Return the global database in the payload of a message."""
    pairs = (line.split(" ", 1) for line in decode_names(payload))
    return {name: int(number) for number, name in pairs}

"""Handler databases: this host's functions by name, and the cluster's numbers for names, which node 0 gives out (paper
003, C.4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firmware.grim.host.arguments import text, whole
from firmware.grim.host.errors import GrimError
from pymodels.errors import nearest

Handler = Callable[[int, int, int, int, int, memoryview], Any]
"""Called with (source endpoint, four signed arguments, payload); may be async. The payload is valid until it
returns."""

SERVER = 0
"""The node that manages the global database."""
ABSENT, REGISTER, LIST, ASK, TELL, CARD_CONTROL, CARD_ERROR = range(1, 8)
FIND, FOUND, PLANTED, CHANGE, CHANGED, PLACE, PLACED = range(9, 16)
"""Numbers of the built-in handlers that exist at all nodes; the second line's are those of the multicast trees."""
FIRST_NUMBER = 16
"""First number of a registered handler."""
LAST_NUMBER = 0xFFFF
MAX_NAME = 255


class Handlers:
    """One host's tables."""

    def __init__(self, elsewhere: tuple[str, ...] = ()) -> None:
        """`elsewhere`: handlers of endpoints without software, which this host registers for them: circuits of its
        card.
        """
        self.elsewhere = elsewhere
        self.local: dict[str, Handler] = {}
        """Own functions by name."""
        self.numbers: dict[str, int] = {}
        """The global database, as far as it is known here."""
        self.names: dict[int, str] = {}
        self.functions: dict[int, Handler] = {}
        """Own functions by number, built-in ones included."""

    def register(self, function: Handler, name: str) -> None:
        """Enter an own function; others see it after `sync_handlers`."""
        if not callable(function):
            raise GrimError("function", f"{function!r} cannot be called", "give a function or coroutine function")
        if not text("name", name) or "\0" in name or len(name.encode()) > MAX_NAME:
            raise GrimError("name", f"{name!r} is not a handler's name", f"give 1 to {MAX_NAME} bytes without NUL")
        if self.local.get(name, function) is not function:
            raise GrimError("name", f"{name!r} is registered already", "give each handler a name of its own")
        self.local[name] = function

    def unpublished(self) -> bool:
        """Whether own functions still have no number: `sync_handlers` has not completed since they were registered."""
        return any(name not in self.numbers for name in self.local)

    def merge(self, names: Mapping[str, int]) -> None:
        """Take over numbers from the server, and assign them to this host's functions."""
        self.numbers.update(names)
        self.names.update({number: name for name, number in names.items()})
        for name, function in self.local.items():
            if name in self.numbers:
                self.functions[self.numbers[name]] = function

    def assign(self, names: list[str]) -> None:
        """The server: give numbers to names that have none."""
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
        """Raise GrimError when no application's handler has this number, as far as is known here."""
        if whole("handler", number) not in self.names:
            what = "belongs to the library" if 0 < number < FIRST_NUMBER else "is not a registered handler"
            raise GrimError("handler", f"{number} {what}", "take the number that resolve_handler gives")

    def unknown(self, name: str) -> GrimError:
        """The error of a name that nobody has registered."""
        return GrimError("name", f"no endpoint has registered a handler {name!r}", nearest(name, self.numbers))


def encode_names(names: list[str]) -> bytes:
    """Names as the payload of a message."""
    return "\0".join(names).encode()


def decode_names(payload: memoryview) -> list[str]:
    """Names from the payload of a message."""
    text = bytes(payload).decode()
    return text.split("\0") if text else []


def encode_table(numbers: Mapping[str, int]) -> bytes:
    """The global database as the payload of a message."""
    return encode_names([f"{number} {name}" for name, number in numbers.items()])


def decode_table(payload: memoryview) -> dict[str, int]:
    """The global database from the payload of a message."""
    pairs = (line.split(" ", 1) for line in decode_names(payload))
    return {name: int(number) for number, name in pairs}

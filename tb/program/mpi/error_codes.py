"""Error classes and codes of a program: those of the standard, and those that the program adds."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi


class FunctionFailed(Misuse):
    """Error code returned by a function of the program that MPI has called; the call returns it too."""

    def __init__(self, code: int, text: str, remedy: str) -> None:
        known = {one.value: one for one in ErrorClass}
        super().__init__(known.get(code, ErrorClass.OTHER), f"a function of the program returned {text}", remedy)
        self.code = code


class ErrorCodes:
    """Class and text of each error code."""

    def __init__(self) -> None:
        self.last = abi.LASTCODE
        """Largest existing code."""
        self._classes: dict[int, int] = {}
        self._texts = {one.value: f"MPI_ERR_{one.name}" for one in ErrorClass} | {0: "MPI_SUCCESS: no error"}

    def new_class(self) -> int:
        """Return a new class of the program with an empty text."""
        self.last += 1
        self._classes[self.last], self._texts[self.last] = self.last, ""
        return self.last

    def new_code(self, error_class: int) -> int:
        """Return a new code of a class with an empty text."""
        self.last += 1
        self._classes[self.last], self._texts[self.last] = error_class, ""
        return self.last

    def class_of(self, code: int) -> int:
        """Return the class of a code; a code of the standard is its own class."""
        return self._classes.get(code, code)

    def text(self, code: int) -> str:
        """Return the text of a code."""
        return self._texts.get(code, "MPI_ERR_UNKNOWN")

    def name(self, code: int, text: str) -> None:
        """Set the text of a code that the program has added. Raises Misuse for other codes."""
        if code not in self._classes:
            raise Misuse(ErrorClass.ARG, f"the program has not added code {code}", "add it first")
        self._texts[code] = text

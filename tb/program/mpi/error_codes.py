"""Error classes and codes of a program: the standard's, and those that it adds."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi


class FunctionFailed(Misuse):
    """A function of the program that MPI has called returned an error code, which the call returns too."""

    def __init__(self, code: int, text: str, remedy: str) -> None:
        known = {one.value: one for one in ErrorClass}
        super().__init__(known.get(code, ErrorClass.OTHER), f"a function of the program returned {text}", remedy)
        self.code = code


class ErrorCodes:
    """What each code's class and text are."""

    def __init__(self) -> None:
        self.last = abi.LASTCODE
        """The largest code that there is."""
        self._classes: dict[int, int] = {}
        self._texts = {one.value: f"MPI_ERR_{one.name}" for one in ErrorClass} | {0: "MPI_SUCCESS: no error"}

    def new_class(self) -> int:
        """A class of the program's own, with an empty text."""
        self.last += 1
        self._classes[self.last], self._texts[self.last] = self.last, ""
        return self.last

    def new_code(self, error_class: int) -> int:
        """A code of a class, with an empty text."""
        self.last += 1
        self._classes[self.last], self._texts[self.last] = error_class, ""
        return self.last

    def class_of(self, code: int) -> int:
        """The class of a code; codes of the standard are their own."""
        return self._classes.get(code, code)

    def text(self, code: int) -> str:
        """What a code says."""
        return self._texts.get(code, "MPI_ERR_UNKNOWN")

    def name(self, code: int, text: str) -> None:
        """Give a code that the program has added its text. Raises Misuse."""
        if code not in self._classes:
            raise Misuse(ErrorClass.ARG, f"the program has not added code {code}", "add it first")
        self._texts[code] = text

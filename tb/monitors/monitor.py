"""Base class of the monitors of a running cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Violation(NamedTuple):
    """Violation of a protocol rule."""

    time: int
    """Time of the clock edge in ps."""
    rule: str


class Monitor(ABC, Generic[T]):
    """Monitor of one place of a running cluster.

    Args:
        name: Name of the place, such as `paris.pci`.
        period: Period of its clock in ps.
    """

    def __init__(self, name: str, period: int) -> None:
        self.name, self.period = name, period
        self._violations: list[Violation] = []
        self._transactions: list[T] = []
        self._callbacks: list[Callable[[T], object]] = []

    def __str__(self) -> str:
        return self.name

    @property
    def transactions(self) -> list[T]:
        """Finished transactions up to now, oldest first."""
        self.update()
        return self._transactions

    @property
    def violations(self) -> list[Violation]:
        """Violations of protocol rules up to now, oldest first."""
        self.update()
        return self._violations

    def add_callback(self, callback: Callable[[T], object]) -> None:
        """Call a function with each transaction, at the first odd picosecond after its last clock edge."""
        self.update()
        self.listen(callback)
        self.be_live()

    def listen(self, callback: Callable[[T], object]) -> None:
        """Call a function with each transaction, whenever it is decoded."""
        self._callbacks.append(callback)

    def finish(self, time: int, complete: bool) -> None:
        """Decode everything up to the end of the run.

        Args:
            time: End of the run in ps.
            complete: True if nothing may be unfinished then.
        """
        self.update()

    @abstractmethod
    def update(self) -> None:
        """Decode everything up to now."""

    @abstractmethod
    def be_live(self) -> None:
        """Decode each transaction when it ends, from now on."""

    @abstractmethod
    def row(self, transaction: T) -> dict[str, Any]:
        """Return the cells of a transaction in `transactions.parquet` (tb/monitors/table.py)."""

    def _finished(self, transaction: T) -> None:
        self._transactions.append(transaction)
        for callback in self._callbacks:
            callback(transaction)

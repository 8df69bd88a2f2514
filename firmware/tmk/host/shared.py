"""Arrays in shared memory: each row begins at a page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pymodels.host import PAGE, Process


def row_bytes(columns: int, dtype: DTypeLike) -> int:
    """From one row to the next: whole pages."""
    return -(-columns * np.dtype(dtype).itemsize // PAGE) * PAGE


class Shared:
    """An array of so many rows and columns at an address of shared memory."""

    def __init__(self, process: Process, address: int, rows: int, columns: int, dtype: DTypeLike) -> None:
        self._process, self.address, self.rows, self.columns = process, address, rows, columns
        self._dtype = np.dtype(dtype)
        self._step = row_bytes(columns, dtype)

    async def load(self, first: int, last: int) -> NDArray[Any]:
        """A copy of rows `first` to `last - 1`, shape (last - first, columns): faults where they are not up to date."""
        data = await self._process.read(self.address + first * self._step, (last - first) * self._step)
        whole: NDArray[Any] = np.frombuffer(data, self._dtype).reshape(last - first, -1)
        rows: NDArray[Any] = whole[:, : self.columns].copy()
        return rows

    async def store(self, first: int, values: NDArray[Any]) -> None:
        """Write rows from `first` on, shape (any, columns)."""
        whole = np.zeros((len(values), self._step // self._dtype.itemsize), self._dtype)
        whole[:, : self.columns] = values
        await self._process.write(self.address + first * self._step, whole.tobytes())

"""Arrays in shared memory, whose rows start at pages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pymodels.host import PAGE, Process


def row_bytes(columns: int, dtype: DTypeLike) -> int:
    """Return the distance of two rows in bytes: whole pages."""
    return -(-columns * np.dtype(dtype).itemsize // PAGE) * PAGE


class Shared:
    """Two-dimensional array at an address of shared memory."""

    def __init__(self, process: Process, address: int, rows: int, columns: int, dtype: DTypeLike) -> None:
        self._process, self.address, self.rows, self.columns = process, address, rows, columns
        self._dtype = np.dtype(dtype)
        self._step = row_bytes(columns, dtype)

    async def load(self, first: int, last: int) -> NDArray[Any]:
        """Return a copy of rows `first` to `last - 1`, shape (last - first, columns). Faults on outdated pages."""
        data = await self._process.read(self.address + first * self._step, (last - first) * self._step)
        whole: NDArray[Any] = np.frombuffer(data, self._dtype).reshape(last - first, -1)
        rows: NDArray[Any] = whole[:, : self.columns].copy()
        return rows

    async def store(self, first: int, values: NDArray[Any]) -> None:
        """Write rows from `first` on; `values` has the shape (any, columns)."""
        whole = np.zeros((len(values), self._step // self._dtype.itemsize), self._dtype)
        whole[:, : self.columns] = values
        await self._process.write(self.address + first * self._step, whole.tobytes())

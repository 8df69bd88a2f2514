"""Buffer arguments as in mpi4py: an array, or a list of buffer, count and datatype (count or datatype optional)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host.datatypes import BYTE, OF_NUMPY, Datatype, whole
from firmware.mpi.host.errors import ErrorClass, Misuse

Spec = Any
"""Buffer argument: `array`, `[buffer, datatype]`, `[buffer, count]`, `[buffer, count, datatype]`, or None for no bytes.
"""


class View:
    """View of `count` elements of a datatype in the bytes of a buffer."""

    def __init__(self, data: NDArray[np.uint8], count: int, datatype: Datatype) -> None:
        self.data, self.count, self.datatype = data, count, datatype
        self.size = count * datatype.size
        """Data bytes."""

    @property
    def contiguous(self) -> bool:
        """True if the elements are contiguous in the application's memory."""
        return self.datatype.contiguous

    @property
    def blocks(self) -> int:
        """Number of separate pieces."""
        return self.count * self.datatype.pieces

    def packed(self) -> bytes | memoryview:
        """Return the data in the order of sending; the buffer itself if they are contiguous."""
        if not self.size:
            return b""
        if self.datatype.dense:
            return self.data.data[: self.size]
        return self.data[self.datatype.index(self.count)].tobytes()

    def fill(self, data: bytes | bytearray | memoryview) -> None:
        """Store received data, possibly fewer than fit."""
        if not len(data):
            return
        came = np.frombuffer(data, np.uint8)
        if self.datatype.dense:
            self.data[: len(came)] = came
        else:
            self.data[self.datatype.index(self.count)[: len(came)]] = came


def view(spec: Spec, writable: bool = False) -> View:
    """Return the elements that a call's buffer argument describes. Raises Misuse."""
    if spec is None:
        return View(np.zeros(0, np.uint8), 0, BYTE)
    count, datatype = None, None
    if isinstance(spec, list | tuple):
        spec, count, datatype = _parts(list(spec))
    array = _array(spec)
    if datatype is None:
        datatype = OF_NUMPY.get(array.dtype.newbyteorder("<"))
        if datatype is None:
            raise Misuse(ErrorClass.TYPE, f"no datatype for elements {array.dtype}", "give [buffer, count, datatype]")
    if not datatype.committed:
        raise Misuse(ErrorClass.TYPE, f"datatype {datatype.name} is not committed", "call Commit() first")
    if writable and not array.flags.writeable:
        raise Misuse(ErrorClass.BUFFER, "the buffer is read-only", "receive into an array or bytearray")
    data = array.reshape(-1).view(np.uint8) if array.size else np.zeros(0, np.uint8)
    if count is None:
        count = len(data) // datatype.extent if datatype.extent else 0
    if datatype.span(count) > len(data):
        cause = f"{count} elements of {datatype.name} end behind the buffer of {len(data)} bytes"
        raise Misuse(ErrorClass.BUFFER, cause, "give a larger buffer or a smaller count")
    return View(data, count, datatype)


def _parts(spec: list[Any]) -> tuple[Any, int | None, Datatype | None]:
    """Return buffer, count and datatype of a list."""
    count, datatype = None, None
    for part in spec[1:]:
        if isinstance(part, Datatype):
            datatype = part
        else:
            count = whole("count", part, ErrorClass.COUNT)
    if not 1 <= len(spec) <= 3:
        raise Misuse(ErrorClass.BUFFER, f"a list of {len(spec)} entries", "give [buffer, count, datatype]")
    return spec[0], count, datatype


def _array(spec: Any) -> NDArray[Any]:
    """Return an object with the buffer protocol as an array over the same memory."""
    try:
        array = spec if isinstance(spec, np.ndarray) else np.frombuffer(spec, np.uint8)
    except (TypeError, ValueError, BufferError):
        if isinstance(spec, bytes | bytearray | memoryview) and not len(spec):
            return np.zeros(0, np.uint8)
        cause = f"{type(spec).__name__} does not give its bytes"
        raise Misuse(ErrorClass.BUFFER, cause, "give an array, bytes or a bytearray") from None
    if not array.flags.c_contiguous:
        raise Misuse(ErrorClass.BUFFER, "the array has gaps", "send a contiguous one, or name a datatype")
    return array

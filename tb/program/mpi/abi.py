"""Binary interface of MPICH (libmpich.so.12): handles, constants and statuses in a program's memory."""

from __future__ import annotations

import struct

import numpy as np

from firmware.mpi.host.errors import ErrorClass
from firmware.mpi.host.groups import CONGRUENT, IDENT, SIMILAR, UNEQUAL
from firmware.mpi.host.status import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, UNDEFINED, Status

LIBRARY = "libmpich.so.12"
"""Library name that Debian's programs load."""
LIBRARY_TOO = "libmpi.so.12"
"""Library name of MPICH itself, loaded by other programs."""
ON_LIBRARY = frozenset(f"libmpi{name}.so.12" for name in ("chfort", "chcxx", "fort", "cxx"))
"""MPICH's Fortran and C++ libraries, which call the C library by name. A program uses its own copies."""
COMM_WORLD, COMM_SELF, COMM_NULL = 0x44000000, 0x44000001, 0x04000000
GROUP_EMPTY, GROUP_NULL = 0x48000000, 0x08000000
REQUEST_NULL, DATATYPE_NULL, OP_NULL = 0x2C000000, 0x0C000000, 0x18000000
SESSION_NULL = 0x38000000
ERRORS_ARE_FATAL, ERRORS_RETURN, ERRORS_ABORT, ERRHANDLER_NULL = 0x54000000, 0x54000001, 0x54000003, 0x14000000
INFO_NULL, INFO_ENV, KEYVAL_INVALID = 0x1C000000, 0x5C000001, 0x24000000
MADE = {
    "comm": 0x84,
    "group": 0x88,
    "datatype": 0x8D,
    "errhandler": 0x94,
    "op": 0x98,
    "info": 0x9C,
    "request": 0xAC,
    "session": 0xB8,
    "message": 0xAD,
}
"""Highest byte of the handles created in a run, by kind of object."""
KEYVAL = 0xA4
BUILTIN = 0x4C
"""Highest byte of the handles of predefined datatypes, except pairs with a gap."""
MESSAGE_NO_PROC = 0x6C000000
IN_PLACE = (1 << 64) - 1
IGNORE = 1
"""Address that means "no status"."""
TAG_UB, HOST, IO, WTIME_IS_GLOBAL = 0x64400001, 0x64400003, 0x64400005, 0x64400007
UNIVERSE_SIZE, LASTUSEDCODE, APPNUM = 0x64400009, 0x6440000B, 0x6440000D
THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)
MAX_NAME, MAX_ERROR, MAX_INFO_KEY = 128, 512, 255
BSEND_OVERHEAD = 96
LASTCODE = 0x3FFFFFFF

DATATYPES = {
    name: (handle, kind)
    for name, handle, kind in (
        ("CHAR", 0x4C000101, "i1"),
        ("SIGNED_CHAR", 0x4C000118, "i1"),
        ("UNSIGNED_CHAR", 0x4C000102, "u1"),
        ("BYTE", 0x4C00010D, "u1"),
        ("WCHAR", 0x4C00040E, "<i4"),
        ("SHORT", 0x4C000203, "<i2"),
        ("UNSIGNED_SHORT", 0x4C000204, "<u2"),
        ("INT", 0x4C000405, "<i4"),
        ("UNSIGNED", 0x4C000406, "<u4"),
        ("LONG", 0x4C000807, "<i8"),
        ("UNSIGNED_LONG", 0x4C000808, "<u8"),
        ("LONG_LONG", 0x4C000809, "<i8"),
        ("UNSIGNED_LONG_LONG", 0x4C000819, "<u8"),
        ("FLOAT", 0x4C00040A, "<f4"),
        ("DOUBLE", 0x4C00080B, "<f8"),
        ("LONG_DOUBLE", 0x4C00100C, "longdouble"),
        ("PACKED", 0x4C00010F, "u1"),
        ("INT8_T", 0x4C000137, "i1"),
        ("INT16_T", 0x4C000238, "<i2"),
        ("INT32_T", 0x4C000439, "<i4"),
        ("INT64_T", 0x4C00083A, "<i8"),
        ("UINT8_T", 0x4C00013B, "u1"),
        ("UINT16_T", 0x4C00023C, "<u2"),
        ("UINT32_T", 0x4C00043D, "<u4"),
        ("UINT64_T", 0x4C00083E, "<u8"),
        ("C_BOOL", 0x4C00013F, "?"),
        ("C_FLOAT_COMPLEX", 0x4C000840, "<c8"),
        ("C_DOUBLE_COMPLEX", 0x4C001041, "<c16"),
        ("C_LONG_DOUBLE_COMPLEX", 0x4C002042, "clongdouble"),
        ("AINT", 0x4C000843, "<i8"),
        ("OFFSET", 0x4C000844, "<i8"),
        ("COUNT", 0x4C000845, "<i8"),
        ("CXX_BOOL", 0x4C000133, "?"),
        ("CXX_FLOAT_COMPLEX", 0x4C000834, "<c8"),
        ("CXX_DOUBLE_COMPLEX", 0x4C001035, "<c16"),
        ("CXX_LONG_DOUBLE_COMPLEX", 0x4C002036, "clongdouble"),
        ("CHARACTER", 0x4C00011A, "i1"),
        ("LOGICAL", 0x4C00041D, "<i4"),
        ("INTEGER", 0x4C00041B, "<i4"),
        ("REAL", 0x4C00041C, "<f4"),
        ("DOUBLE_PRECISION", 0x4C00081F, "<f8"),
        ("COMPLEX", 0x4C00081E, "<c8"),
        ("DOUBLE_COMPLEX", 0x4C001022, "<c16"),
        ("INTEGER1", 0x4C00012D, "i1"),
        ("INTEGER2", 0x4C00022F, "<i2"),
        ("INTEGER4", 0x4C000430, "<i4"),
        ("INTEGER8", 0x4C000831, "<i8"),
        ("REAL4", 0x4C000427, "<f4"),
        ("REAL8", 0x4C000829, "<f8"),
        ("REAL16", 0x4C00102B, "V16"),
        ("COMPLEX32", 0x4C00202C, "V32"),
        ("COMPLEX8", 0x4C000828, "<c8"),
        ("COMPLEX16", 0x4C00102A, "<c16"),
    )
}
"""Handle and numpy element type of each datatype."""
GRAPH, CART, DIST_GRAPH = 1, 2, 3
UNWEIGHTED, WEIGHTS_EMPTY = 1, 2
"""Addresses that mean "no weights" and "weights of no edges"."""
TYPECLASSES = {"TYPECLASS_REAL": 1, "TYPECLASS_INTEGER": 2, "TYPECLASS_COMPLEX": 3}
MARKERS = {"LB": 0x4C000010, "UB": 0x4C000011}
"""Datatypes without data that mark the bounds of a struct (MPI-1)."""
PAIRS = {
    "FLOAT_INT": (0x8C000000, ("<f4", "<i4"), 8),
    "DOUBLE_INT": (0x8C000001, ("<f8", "<i4"), 16),
    "LONG_INT": (0x8C000002, ("<i8", "<i4"), 16),
    "SHORT_INT": (0x8C000003, ("<i2", "<i4"), 8),
    "2INT": (0x4C000816, ("<i4", "<i4"), 8),
    "LONG_DOUBLE_INT": (0x8C000004, ("longdouble", "<i4"), 32),
    "2INTEGER": (0x4C000820, ("<i4", "<i4"), 8),
    "2REAL": (0x4C000821, ("<f4", "<f4"), 8),
    "2DOUBLE_PRECISION": (0x4C001023, ("<f8", "<f8"), 16),
}
"""Handle, element types and extent of each pair of value and index."""
OPERATORS = {
    name: 0x58000001 + at
    for at, name in enumerate(
        ("MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC")
    )
}
OF_RMA = {"REPLACE": 0x5800000D, "NO_OP": 0x5800000E}
"""Operators that reductions reject."""
CONSTANTS = {
    "SUCCESS": 0,
    "IDENT": IDENT,
    "CONGRUENT": CONGRUENT,
    "SIMILAR": SIMILAR,
    "UNEQUAL": UNEQUAL,
    "PROC_NULL": PROC_NULL,
    "ROOT": ROOT,
    "ANY_SOURCE": ANY_SOURCE,
    "ANY_TAG": ANY_TAG,
    "UNDEFINED": UNDEFINED,
    "COMM_WORLD": COMM_WORLD,
    "COMM_SELF": COMM_SELF,
    "COMM_NULL": COMM_NULL,
    "GROUP_EMPTY": GROUP_EMPTY,
    "GROUP_NULL": GROUP_NULL,
    "REQUEST_NULL": REQUEST_NULL,
    "DATATYPE_NULL": DATATYPE_NULL,
    "OP_NULL": OP_NULL,
    "SESSION_NULL": SESSION_NULL,
    "MESSAGE_NULL": REQUEST_NULL,
    "MESSAGE_NO_PROC": MESSAGE_NO_PROC,
    "INFO_NULL": INFO_NULL,
    "ERRORS_ARE_FATAL": ERRORS_ARE_FATAL,
    "ERRORS_RETURN": ERRORS_RETURN,
    "ERRORS_ABORT": ERRORS_ABORT,
    "KEYVAL_INVALID": KEYVAL_INVALID,
    "ERRHANDLER_NULL": ERRHANDLER_NULL,
    "TAG_UB": TAG_UB,
    "HOST": HOST,
    "IO": IO,
    "WTIME_IS_GLOBAL": WTIME_IS_GLOBAL,
    "UNIVERSE_SIZE": UNIVERSE_SIZE,
    "LASTUSEDCODE": LASTUSEDCODE,
    "APPNUM": APPNUM,
    "THREAD_SINGLE": THREAD_SINGLE,
    "THREAD_FUNNELED": THREAD_FUNNELED,
    "THREAD_SERIALIZED": THREAD_SERIALIZED,
    "THREAD_MULTIPLE": THREAD_MULTIPLE,
    "MAX_PROCESSOR_NAME": MAX_NAME,
    "MAX_ERROR_STRING": MAX_ERROR,
    "MAX_INFO_KEY": MAX_INFO_KEY,
    "BSEND_OVERHEAD": BSEND_OVERHEAD,
    "ERR_LASTCODE": LASTCODE,
    "GRAPH": GRAPH,
    "CART": CART,
    "DIST_GRAPH": DIST_GRAPH,
    **TYPECLASSES,
    **{name: handle for name, (handle, _) in DATATYPES.items()},
    **{name: handle for name, (handle, _, _) in PAIRS.items()},
    **MARKERS,
    **OPERATORS,
    **{f"ERR_{one.name}": one.value for one in ErrorClass if one},
}
"""Constants of our header, without the prefix `MPI_`."""


def status_bytes(status: Status, with_error: bool = False) -> bytes:
    """Return a status as in memory; without the error, which calls that end one operation leave unchanged."""
    high = (status.size >> 32) << 1 | int(status.cancelled)
    head = struct.pack("<IIii", status.size & 0xFFFFFFFF, high, status.source, status.tag)
    return head + struct.pack("<i", status.error) if with_error else head


def status_of(data: bytes) -> Status:
    """Return the status in the memory `data`."""
    low, high, source, tag, error = struct.unpack("<IIiii", data)
    return Status(source, tag, error, (high >> 1) << 32 | low, bool(high & 1))


STATUS_BYTES = 20


def as_int(number: int) -> int:
    """Return a count as an int of a program: UNDEFINED if it does not fit."""
    return number if number < 1 << 31 else UNDEFINED


def pair(value: str, index: str) -> np.dtype[np.void]:
    """Return the type of a value and an index without a gap."""
    return np.dtype([("value", value), ("index", index)])

"""Datatypes of the standard as attributes, each bound to a rank, which its errors name."""

from __future__ import annotations

from firmware.mpi.host.datatypes import BASIC, Calling, Datatype


class Types:
    """Datatypes; their sizes are those of C on a 32-bit host with `long long`."""

    BYTE: Datatype
    CHAR: Datatype
    SIGNED_CHAR: Datatype
    UNSIGNED_CHAR: Datatype
    SHORT: Datatype
    UNSIGNED_SHORT: Datatype
    INT: Datatype
    UNSIGNED: Datatype
    LONG_LONG: Datatype
    UNSIGNED_LONG_LONG: Datatype
    FLOAT: Datatype
    DOUBLE: Datatype
    C_BOOL: Datatype
    C_FLOAT_COMPLEX: Datatype
    C_DOUBLE_COMPLEX: Datatype

    def __init__(self, calling: Calling) -> None:
        for name, basic in BASIC.items():
            setattr(self, name, basic.bound(calling))

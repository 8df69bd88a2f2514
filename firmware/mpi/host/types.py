"""Datatypes of the standard as attributes, each bound to a rank: what it makes carries its rank in errors."""

from __future__ import annotations

from firmware.mpi.host.datatypes import BASIC, Calling, Datatype


class Types:
    """The datatypes; their sizes are those of C on a host of 32 bits with `long long`."""

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

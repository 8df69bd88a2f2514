"""MPI's error classes, and the exception that carries one."""

from __future__ import annotations

from enum import IntEnum

from pymodels.errors import SanlabError


class ErrorClass(IntEnum):
    """Error classes of the standard, with MPICH's values."""

    SUCCESS = 0
    BUFFER = 1
    COUNT = 2
    TYPE = 3
    TAG = 4
    COMM = 5
    RANK = 6
    ROOT = 7
    GROUP = 8
    OP = 9
    TOPOLOGY = 10
    DIMS = 11
    ARG = 12
    UNKNOWN = 13
    TRUNCATE = 14
    OTHER = 15
    INTERN = 16
    IN_STATUS = 17
    PENDING = 18
    REQUEST = 19
    INFO = 28
    INFO_KEY = 29
    INFO_VALUE = 30
    INFO_NOKEY = 31
    KEYVAL = 48
    SESSION = 75


class Misuse(Exception):  # noqa: N818 - it never leaves the library
    """Invalid argument, raised where neither rank nor call is known; becomes an MpiError."""

    def __init__(self, error_class: ErrorClass, cause: str, remedy: str) -> None:
        super().__init__(error_class, cause, remedy)
        self.error_class, self.cause, self.remedy = error_class, cause, remedy


class MpiError(SanlabError):
    """Failed call: error class, rank in MPI_COMM_WORLD, and call by its name in the standard."""

    def __init__(self, rank: int, call: str, error_class: ErrorClass, cause: str, remedy: str) -> None:
        super().__init__(f"rank {rank}, {call}, MPI_ERR_{error_class.name}", cause, remedy)
        self.args = (rank, call, error_class, cause, remedy)
        self.rank, self.call, self.error_class = rank, call, error_class

"""MPI: matching, eager and rendezvous protocols and collectives over another message layer (paper 001, chapter 6)."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, MpiError
from firmware.mpi.host.intercomm import Intercomm, create_intercomm
from firmware.mpi.host.library import Mpi
from firmware.mpi.host.operators import BAND, BOR, BXOR, LAND, LOR, LXOR, MAX, MIN, PROD, SUM, Op
from firmware.mpi.host.parts import IN_PLACE
from firmware.mpi.host.requests import Request
from firmware.mpi.host.status import ANY_SOURCE, ANY_TAG, PROC_NULL, ROOT, UNDEFINED, Status

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "BAND",
    "BOR",
    "BXOR",
    "IN_PLACE",
    "LAND",
    "LOR",
    "LXOR",
    "MAX",
    "MIN",
    "PROC_NULL",
    "PROD",
    "ROOT",
    "SUM",
    "UNDEFINED",
    "ErrorClass",
    "Intercomm",
    "Mpi",
    "MpiError",
    "Op",
    "Request",
    "Status",
    "create_intercomm",
]

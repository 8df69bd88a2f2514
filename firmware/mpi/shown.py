"""Names of MPI calls for reports."""

from firmware.mpi.call_names import CALLS
from firmware.shown import Shown

SHOWN = Shown(calls=CALLS)

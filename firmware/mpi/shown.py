"""What tools show of MPI: the names of the calls that an application makes."""

from firmware.mpi.call_names import CALLS
from firmware.shown import Shown

SHOWN = Shown(calls=CALLS)

"""Layer descriptor of MPI."""

from firmware.layer import Layer
from firmware.mpi.host import Mpi
from firmware.mpi.mail import open_mail
from firmware.mpi.options import Options
from firmware.mpi.shown import SHOWN
from firmware.promises import FAULTS, Promise

KEPT = (
    Promise.ORDER
    | Promise.RESEQUENCING
    | Promise.DOUBLING
    | Promise.BACK_PRESSURE
    | Promise.PROTECTION
    | Promise.SELF
    | Promise.RESTART
)
"""Promises kept with all options of the cases."""

LAYER = Layer(
    name="mpi",
    library=Mpi,
    options=Options,
    stands_on=("grim", "via", "pipes", "lapi"),
    mail=open_mail,
    promises={
        "": KEPT,
        "on=via": KEPT,
        "on=pipes": KEPT | FAULTS,
        "on=lapi": KEPT | FAULTS,
    },
    shown=SHOWN,
)

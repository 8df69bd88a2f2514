"""The descriptor of MPI."""

from firmware.layer import Layer
from firmware.mpi.host import Mpi
from firmware.mpi.mail import open_mail
from firmware.mpi.options import Options
from firmware.mpi.shown import SHOWN

LAYER = Layer(
    name="mpi",
    library=Mpi,
    options=Options,
    stands_on=("grim", "via", "pipes", "lapi"),
    mail=open_mail,
    shown=SHOWN,
)

"""Layer descriptor of Pipes."""

from firmware.layer import Layer
from firmware.pipes.host import Pipes
from firmware.pipes.mail import open_mail
from firmware.pipes.options import Options
from firmware.pipes.shown import SHOWN
from firmware.promises import FAULTS, Promise

LAYER = Layer(
    name="pipes",
    library=Pipes,
    options=Options,
    stands_on=("hal",),
    mail=open_mail,
    promises={
        "": Promise.ORDER | Promise.RESEQUENCING | FAULTS | Promise.BACK_PRESSURE | Promise.PROTECTION | Promise.RESTART
    },
    shown=SHOWN,
)

"""Layer descriptor of LAPI."""

from firmware.lapi.host import Lapi
from firmware.lapi.mail import open_mail
from firmware.lapi.options import Options
from firmware.lapi.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import FAULTS, Promise

LAYER = Layer(
    name="lapi",
    library=Lapi,
    options=Options,
    stands_on=("hal",),
    mail=open_mail,
    promises={"": Promise.ORDER | Promise.RESEQUENCING | FAULTS | Promise.PROTECTION | Promise.SELF | Promise.RESTART},
    shown=SHOWN,
)

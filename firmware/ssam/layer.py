"""Layer descriptor of SSAM."""

from firmware.layer import Layer
from firmware.promises import Promise
from firmware.ssam.host import Ssam, check_options
from firmware.ssam.mail import open_mail
from firmware.ssam.options import Options
from firmware.ssam.shown import SHOWN
from pymodels.nics.fifo.kind import KIND

PROMISED = (
    Promise.ORDER | Promise.RESEQUENCING | Promise.BACK_PRESSURE | Promise.PROTECTION | Promise.RESTART | Promise.REJOIN
)

LAYER = Layer(
    name="ssam",
    library=Ssam,
    options=Options,
    drives=KIND,
    limits=check_options,
    mail=open_mail,
    promises={"": PROMISED},
    shown=SHOWN,
)

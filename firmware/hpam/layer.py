"""Layer descriptor of HPAM."""

from firmware.hpam.host import Hpam, check_options
from firmware.hpam.mail import PATIENT, open_mail
from firmware.hpam.options import Options
from firmware.hpam.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import FAULTS, Promise
from pymodels.nics.fifo.kind import KIND

LAYER = Layer(
    name="hpam",
    library=Hpam,
    options=Options,
    drives=KIND,
    limits=check_options,
    tolerates_loss=True,
    mail=open_mail,
    patient=PATIENT,
    promises={"": Promise.ORDER | FAULTS | Promise.BACK_PRESSURE | Promise.ZERO_COPY | Promise.PROTECTION},
    shown=SHOWN,
)

"""Layer descriptor of EPOS."""

from firmware.epos.host import Epos
from firmware.epos.mail import open_mail
from firmware.epos.nic import check_options, composition, main, tolerates_loss
from firmware.epos.options import Options
from firmware.epos.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import Promise

KEPT = Promise.ORDER | Promise.OVERTAKING | Promise.BACK_PRESSURE | Promise.PROTECTION | Promise.RESTART
"""Promises that EPOS keeps with all options of the test cases."""

LAYER = Layer(
    name="epos",
    library=Epos,
    firmware=main,
    options=Options,
    limits=check_options,
    tolerates_loss=tolerates_loss,
    composition=composition,
    mail=open_mail,
    promises={
        "": KEPT | Promise.REJOIN,
        "protocols=flow": KEPT | Promise.REJOIN,
        "protocols=reliability": KEPT | Promise.RESEQUENCING | Promise.LOSS | Promise.DAMAGE,
    },
    shown=SHOWN,
)

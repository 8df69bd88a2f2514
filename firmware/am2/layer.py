"""Descriptor of the message layer Active Messages II."""

from firmware.am2.host import Am2
from firmware.am2.mail import open_mail
from firmware.am2.nic import check_options, main
from firmware.am2.options import Options
from firmware.am2.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import FAULTS, Promise

LAYER = Layer(
    name="am2",
    library=Am2,
    firmware=main,
    options=Options,
    limits=check_options,
    tolerates_loss=True,
    mail=open_mail,
    promises={"": FAULTS | Promise.BACK_PRESSURE | Promise.PROTECTION | Promise.RESTART},
    shown=SHOWN,
)

"""Layer descriptor of Active Messages."""

from firmware.am.host import Am
from firmware.am.mail import open_mail
from firmware.am.nic import check_options, main
from firmware.am.options import Options
from firmware.am.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import Promise

LAYER = Layer(
    name="am",
    library=Am,
    firmware=main,
    options=Options,
    limits=check_options,
    mail=open_mail,
    promises={"": Promise.ORDER | Promise.BACK_PRESSURE | Promise.RESTART | Promise.REJOIN},
    shown=SHOWN,
)

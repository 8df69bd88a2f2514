"""Layer descriptor of HAL."""

from firmware.hal.host import HostHal
from firmware.hal.mail import open_mail
from firmware.hal.nic import check_options, main
from firmware.hal.options import Options
from firmware.hal.shown import SHOWN
from firmware.layer import Layer
from firmware.promises import Promise

LAYER = Layer(
    name="hal",
    library=HostHal,
    firmware=main,
    options=Options,
    limits=check_options,
    tolerates_loss=True,
    mail=open_mail,
    promises={"": Promise.ORDER | Promise.OVERTAKING | Promise.RESTART | Promise.REJOIN},
    shown=SHOWN,
)

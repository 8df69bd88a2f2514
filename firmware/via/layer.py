"""The descriptor of VIA."""

from firmware.layer import Layer
from firmware.via.formats import NODES
from firmware.via.host import Via
from firmware.via.mail import open_mail
from firmware.via.nic import check_options, main
from firmware.via.options import Options
from firmware.via.shown import SHOWN

LAYER = Layer(
    name="via",
    library=Via,
    firmware=main,
    options=Options,
    most_nodes=NODES,
    limits=check_options,
    tolerates_loss=True,
    mail=open_mail,
    shown=SHOWN,
)

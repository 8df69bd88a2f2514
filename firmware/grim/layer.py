"""Layer descriptor of GRIM."""

from firmware.grim.formats import MAX_VNN
from firmware.grim.host import Grim
from firmware.grim.mail import open_mail
from firmware.grim.nic import boot, card_bytes, check_options, holds_link, main, tolerates_loss
from firmware.grim.options import Options
from firmware.grim.shown import SHOWN
from firmware.layer import Boot, Layer
from firmware.promises import FAULTS, Promise

KEPT = (
    Promise.ORDER
    | Promise.RESEQUENCING
    | Promise.DOUBLING
    | Promise.BACK_PRESSURE
    | Promise.ZERO_COPY
    | Promise.PROTECTION
    | Promise.SELF
    | Promise.RESTART
)
"""Promises that GRIM keeps with all options of the test cases."""

LAYER = Layer(
    name="grim",
    library=Grim,
    firmware=main,
    options=Options,
    most_nodes=MAX_VNN + 1,
    limits=check_options,
    holds_link=holds_link,
    card_bytes=card_bytes,
    tolerates_loss=tolerates_loss,
    mail=open_mail,
    promises={
        "": KEPT,
        "timeout_us=200": KEPT | FAULTS,
    },
    shown=SHOWN,
    boot=Boot(words=boot.words, waits=boot.waits, check=boot.check),
)

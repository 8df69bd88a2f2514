"""What tools show of echo's packets: the fields of its header."""

from firmware.nic.echo import layout as at
from firmware.shown import Plain, Shown

FIELDS = {"source": (1, "Source VNN"), "number": (1, "Number"), "destination": (2, "Destination VNN")}
SHOWN = Shown(plain=Plain(at.TYPE, {**FIELDS, "bytes": (2, "Payload bytes")}))

"""One folder for each message layer: its NIC side; `hardware` is what they share."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

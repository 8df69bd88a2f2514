"""What firmware finds on each kind of NIC, one package a kind: see `Hardware` of `firmware.common.nic.ports`."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

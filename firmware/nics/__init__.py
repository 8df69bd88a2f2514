"""Hardware interfaces for firmware, one package for each kind of NIC: see `firmware.common.nic.ports.Hardware`."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

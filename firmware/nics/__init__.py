"""Hardware interfaces for firmware, one package for each kind of NIC: see `firmware.common.nic.ports.Hardware`."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)

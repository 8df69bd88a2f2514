"""One folder for each kind of NIC (`pymodels.hardware.kind`), and `common` for what several of them share."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

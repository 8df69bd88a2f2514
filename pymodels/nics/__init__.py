"""Kinds of NIC, one folder each (`pymodels.hardware.kind`), and `common` for shared code."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

"""Kinds of NIC, one folder each (`pymodels.hardware.kind`), and `common` for shared code."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)

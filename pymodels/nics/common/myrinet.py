"""The Myrinet: links of 9-bit characters, crossbars of any number of ports."""

from __future__ import annotations

from pymodels.hardware.kind import Network

MYRINET = Network(capture_type=147, hdl_switch={"SP": 0}, pipeline=4)
"""LINKTYPE_USER0; the pipeline of `myri_switch`."""

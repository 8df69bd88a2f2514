"""Myrinet network: links of 9-bit characters, crossbars with any number of ports."""

from __future__ import annotations

from pymodels.hardware.kind import Network

MYRINET = Network(capture_type=147, hdl_switch={"SP": 0}, pipeline=4)
"""Myrinet with link type LINKTYPE_USER0 and the pipeline of `myri_switch`."""

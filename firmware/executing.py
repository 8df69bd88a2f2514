"""Firmware in C on the pure-Python machine: the counterpart of `nic.firmware=c` on the RTL."""

from __future__ import annotations

from dataclasses import replace

from firmware.images import cores, load
from firmware.layers import boot_waits, boot_words
from firmware.view import ClusterView, MachineCode
from pymodels.machine.executed import boots
from pymodels.machine.nic import ModelNic


def executing(layer: str, nic: ModelNic, view: ClusterView) -> ClusterView:
    """Return the view of a node whose NIC executes a layer's committed image once the host has loaded it."""
    core = cores()[nic.kind]
    program = load(layer, nic.kind)
    boots(nic, program, core.chip)
    words, waits = boot_words(layer, view, core.word_bytes), boot_waits(layer, nic, view)
    return replace(view, machine_code=MachineCode(program, words, waits))

"""Families of EPOS: communicators over channels over a network; each member has exactly its own calls (paper 004)."""

from __future__ import annotations

from firmware.epos.host.families.channels import Datagram, Stream
from firmware.epos.host.families.communicator import Communicator
from firmware.epos.host.families.members import Letter, Link, Mailbox, Port
from firmware.epos.host.families.network import Lanai4, Lanai9, Network

__all__ = ["Communicator", "Datagram", "Lanai4", "Lanai9", "Letter", "Link", "Mailbox", "Network", "Port", "Stream"]

"""Agents for designs of other people: `from sanlab.agents import pci, myrinet`; see README.md in this folder."""

from ..private import install  # noqa: TID252  # the library has two names: sanlab and tb.sanlab

install()

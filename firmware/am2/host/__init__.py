"""AM-II on the host: virtual endpoints in the NIC's memory, as in paper 002 (Active Messages II)."""

from __future__ import annotations

from typing import NamedTuple

from firmware.am2.host.bundle import Access, Bundle, Mask
from firmware.am2.host.driver import Driver
from firmware.am2.host.endpoint import Endpoint
from firmware.am2.host.endpoint_tables import Handler
from firmware.am2.host.errors import Am2Error
from firmware.am2.host.message import EndpointName, Token
from firmware.am2.host.segment import MOST
from firmware.am2.host.tables import HANDLERS, TRANSLATIONS
from firmware.am2.host.transfer import Transfer
from firmware.am2.nic.layout import ENDPOINTS
from firmware.am2.nic.words import ALWAYS, NEVER, SHORT_WORDS, Code
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.host.process import Process

__all__ = [
    "ALWAYS",
    "NEVER",
    "Access",
    "Am2",
    "Am2Error",
    "Bundle",
    "Code",
    "Endpoint",
    "EndpointName",
    "Handler",
    "Library",
    "Limits",
    "Mask",
    "Token",
    "Transfer",
]


class Limits(NamedTuple):
    """Limits of messages and of the tables of an endpoint."""

    short_words: int
    """AM_MaxShort."""
    medium: int
    """AM_MaxMedium, in bytes."""
    bulk: int
    """AM_MaxLong and AM_MaxSegLength, in bytes."""
    handlers: int
    """AM_MaxNumHandlers."""
    translations: int
    """AM_MaxNumTranslations."""
    endpoints: int
    """Number of endpoints of a host."""


class Library:
    """AM-II in a process."""

    def __init__(self, driver: Driver, process: Process) -> None:
        self.process, self._driver = process, driver
        self.bundles: list[Bundle] = []

    def allocate_bundle(self, access: Access = Access.SEQ) -> Bundle:
        """Create a bundle for one thread at a time (SEQ) or for any (PAR) (AM_AllocateBundle). Raises Am2Error."""
        if access not in tuple(Access):
            raise Am2Error(f"{self.process.who}: a bundle", f"invalid access {access!r}", "give SEQ or PAR")
        bundle = Bundle(self._driver, self.process, Access(access))
        self.bundles.append(bundle)
        return bundle

    async def terminate(self) -> None:
        """Free all bundles and endpoints of the process (AM_Terminate)."""
        for bundle in self.bundles:
            await bundle.free()
        self.bundles.clear()

    async def lookup(self, host: str, endpoint: int) -> EndpointName:
        """Return the global name of an endpoint from the name server. Raises Am2Error.

        Args:
            host: Name of the host.
            endpoint: Number of the endpoint on that host.
        """
        return await self._driver.lookup(self.process, host, endpoint)

    @property
    def limits(self) -> Limits:
        """Limits of this implementation (AM_MaxShort and others)."""
        medium = self._driver.options.medium
        return Limits(SHORT_WORDS, medium, MOST, HANDLERS, TRANSLATIONS, ENDPOINTS)


class Am2:
    """AM-II of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self._driver = host, view.me, Driver(host, view)
        self.nodes, self.options = len(view.names), self._driver.options
        self.pager = self._driver.pager
        """Pager of the NIC's memory. Its `log` has all endpoints that were loaded, with times."""

    async def start(self) -> None:
        """Load the driver. Call this once on each host, before anything else."""
        await self._driver.start()

    def init(self, process: Process | None = None) -> Library:
        """Return the library of a process (AM_Init). Without a process, create one."""
        return Library(self._driver, process or self.host.process())

"""AM-II on the host: virtual endpoints in the NIC's memory, as paper 002 describes Active Messages II."""

from __future__ import annotations

from typing import NamedTuple

from firmware.am2.host.bundle import Access, Bundle, Mask
from firmware.am2.host.described import Handler
from firmware.am2.host.driver import Driver
from firmware.am2.host.endpoint import Endpoint
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
    """What a message and the tables of an endpoint may have."""

    short_words: int
    """AM_MaxShort."""
    medium: int
    """AM_MaxMedium, bytes."""
    bulk: int
    """AM_MaxLong, AM_MaxSegLength: bytes of a transfer and of a segment."""
    handlers: int
    """AM_MaxNumHandlers."""
    translations: int
    """AM_MaxNumTranslations."""
    endpoints: int
    """Of a host."""


class Library:
    """AM-II in a process."""

    def __init__(self, driver: Driver, process: Process) -> None:
        self.process, self._driver = process, driver
        self.bundles: list[Bundle] = []

    def allocate_bundle(self, access: Access = Access.SEQ) -> Bundle:
        """AM_AllocateBundle, for one thread at a time, or (PAR) for any. Raises Am2Error."""
        if access not in tuple(Access):
            raise Am2Error(f"{self.process.who}: a bundle", f"its access is {access!r}", "give SEQ or PAR")
        bundle = Bundle(self._driver, self.process, Access(access))
        self.bundles.append(bundle)
        return bundle

    async def terminate(self) -> None:
        """AM_Terminate: free all that the process has."""
        for bundle in self.bundles:
            await bundle.free()
        self.bundles.clear()

    async def lookup(self, host: str, endpoint: int) -> EndpointName:
        """The name server: the global name of an endpoint, by its host's name and its number there. Raises Am2Error."""
        return await self._driver.lookup(self.process, host, endpoint)

    @property
    def limits(self) -> Limits:
        """AM_MaxShort and its like."""
        medium = self._driver.options.medium
        return Limits(SHORT_WORDS, medium, MOST, HANDLERS, TRANSLATIONS, ENDPOINTS)


class Am2:
    """AM-II of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self._driver = host, view.me, Driver(host, view)
        self.nodes, self.options = len(view.names), self._driver.options
        self.pager = self._driver.pager
        """Which endpoints are in the NIC's memory; `log`: those that were brought, and what that took."""

    async def start(self) -> None:
        """Load the driver: once a host, before anything else."""
        await self._driver.start()

    def init(self, process: Process | None = None) -> Library:
        """AM_Init, for a process; without one, for a new one."""
        return Library(self._driver, process or self.host.process())

"""Mail of any layer on the machine: hosts on one switch, with a NIC that the layer runs on."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from firmware.layers import has_program, nic_program, open_mail
from firmware.mail import Mail
from firmware.stack import Libraries
from firmware.view import ClusterView
from pymodels.machine import Machine
from tb.plan.fitting import fitting_profile


class MailBench:
    """Started hosts."""

    def __init__(
        self,
        layer: str,
        nodes: int = 2,
        *,
        on: str = "",
        nic: str = "",
        trace: bool = False,
        mails: bool = True,
        **options: Any,
    ) -> None:
        """Start hosts with a layer.

        Args:
            layer: Name of the layer.
            nodes: Number of hosts.
            on: Layer below a stacked layer.
            nic: Kind of all NICs; by default that of the profile which fits the layer.
            trace: True to record the trace.
            mails: False for layers without mail.
            options: Options of the layer.
        """
        self.layer, self.given = layer, {**options, **({"on": on} if on else {})}
        nic = nic or fitting_profile(layer, {layer: self.given}).kind
        self.machine = Machine(nodes, nic=nic, trace=trace)
        self.libraries = [self.opened(node) for node in range(nodes)]
        self.mails: list[Mail] = [open_mail(layer, library) for library in self.libraries] if mails else []
        self.run(*(mail.start() for mail in self.mails))

    def opened(self, node: int) -> Any:
        """Start the program of a NIC, and return a new library of its host."""
        return Libraries(self.machine.host(node), *self._parts(node, {self.layer: self.given})).start(self.layer)

    def _parts(self, node: int, given: Mapping[str, Mapping[str, Any]]) -> tuple[Any, Any]:
        """Return the view function and the program starter of a layer on a node."""
        machine = self.machine

        def view(layer: str, more: Mapping[str, Any]) -> ClusterView:
            return ClusterView(**machine.view(node, **{**given.get(layer, {}), **more}))

        def program(layer: str, told: ClusterView) -> ClusterView:
            if has_program(layer):
                processor = machine.processor(node)
                processor.spawn(nic_program(layer)(processor, told), layer)
            return told

        return view, program

    def run(self, *calls: Awaitable[Any], within_us: float = 1e6) -> list[Any]:
        """Run calls concurrently."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call

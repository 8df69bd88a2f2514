"""Who is who in the cluster, and references to endpoints (paper 003, C.3)."""

from __future__ import annotations

from firmware.host.grim.arguments import text, whole
from firmware.host.grim.core import ANY_VNN, Core
from firmware.host.grim.errors import GrimError
from pymodels.errors import nearest
from pymodels.formats.grim import Device, Reference


class Nodes(Core):
    """Tables C.1 and C.2."""

    def get_vnn_from_name(self, name: str) -> int:
        """`grim_getVNNFromName`."""
        self._ready()
        if text("name", name) not in self._names:
            raise GrimError("name", f"no host of the cluster is called {name!r}", nearest(name, self._names))
        return self._names.index(name)

    def get_vnn_name(self, vnn: int) -> str:
        """`grim_getVNNName`."""
        self._ready()
        return self._names[self._checked_vnn(vnn)]

    def get_my_vnn(self) -> int:
        """`grim_getMyVNN`."""
        self._ready()
        return self._me

    def get_my_name(self) -> str:
        """`grim_getMyName`."""
        self._ready()
        return self._names[self._me]

    def vnn_configuration(self) -> str:
        """What `grim_printVNNConfiguration` prints: one line a host with its virtual and physical node number, the own
        one marked.
        """
        self._ready()
        return "\n".join(
            f"VNN {vnn:3d}  PNN {self._pnns[vnn]:3d}  {name}{' (this host)' if vnn == self._me else ''}"
            for vnn, name in enumerate(self._names)
        )

    def print_vnn_configuration(self) -> None:
        """`grim_printVNNConfiguration`."""
        print(self.vnn_configuration())

    def get_dest_id(self, vnn: int, device: int = Device.HOST, channel: int = 0) -> int:
        """`grim_getDestID`: the 32-bit reference of an endpoint whose place is known."""
        self._ready()
        parts = Reference(self._checked_vnn(vnn, "destination"), whole("device", device), whole("channel", channel))
        return self._reference(parts, "destination").pack()

    def get_resource(self, vnn: int, device: int, channel: int = 0) -> int:
        """`grim_getResource`: the reference of an endpoint of a device type, on node `vnn` or, with ANY_VNN, on the
        first that has it.
        """
        self._ready()
        device, channel = whole("device", device), whole("channel", channel)
        nodes = self._resources.get(device, ())
        if vnn != ANY_VNN:
            asked = self._checked_vnn(vnn)
            nodes = tuple(node for node in nodes if node == asked)
        if not nodes:
            raise GrimError(
                "device",
                f"no node asked for has a device of type {device}",
                nearest("HOST", [kind.name for kind in Device]),
            )
        return self._reference(Reference(nodes[0], device, channel), "device").pack()

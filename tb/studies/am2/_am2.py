"""Shared parts of AM-II studies: one endpoint per host, mapped to all others, and a serving program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab

if TYPE_CHECKING:
    from firmware.am2.host import Bundle, Endpoint, Handler, Token

TAG = 0x534E_4F57
RETURNED, FIRST, LAST = 0, 1, 255
"""Handler indices: of returned messages, of the study's first handler, and of the message that ends the study."""


class Endpoints:
    """Process with one bundle and one endpoint on each host; translation n is the endpoint of host n."""

    def __init__(self, lab: Lab, layers: list[Any]) -> None:
        self.lab, self.layers = lab, layers
        self.bundles: list[Bundle] = [layer.init().allocate_bundle() for layer in layers]
        self.endpoints: list[Endpoint] = []
        """First endpoint of each host."""
        self.back: list[Token] = []
        """Returned messages."""
        self.over: set[int] = set()
        """Hosts whose programs have ended."""
        self.far = len(layers) - 1
        """Number of the last host."""
        self.kept: list[int] = []
        """Time of each call of `keep`, ps."""

    async def start(self, *handlers: Handler) -> None:
        """Load the drivers and open the endpoints; `handlers` are installed in each, from index FIRST on."""
        for layer in self.layers:
            await layer.start()
        for bundle in self.bundles:
            self.endpoints.append(await self.open(bundle, *handlers))
        for endpoint in self.endpoints:
            self.know(endpoint)

    async def open(self, bundle: Bundle, *handlers: Handler, weight: int = 1) -> Endpoint:
        """Open a further endpoint in a bundle, with the given handlers."""
        endpoint = await bundle.allocate_endpoint(weight)
        for index, handler in enumerate((self.returned, *handlers)):
            endpoint.set_handler(index, handler)
        endpoint.set_handler(LAST, self.end)
        await endpoint.set_tag(TAG)
        return endpoint

    def know(self, endpoint: Endpoint) -> None:
        """Map the first endpoint of each host in `endpoint`."""
        for index, other in enumerate(self.endpoints):
            endpoint.map(index, other.name, TAG)

    async def returned(self, token: Token) -> None:
        """Handle a returned message: keep it."""
        self.back.append(token)

    async def keep(self, token: Token) -> None:
        """Handle a message: note the time."""
        self.kept.append(self.lab.kernel.now)

    async def end(self, token: Token) -> None:
        """Handle the last message to a host: end its program."""
        self.over.add(self.endpoints.index(token.endpoint))  # type: ignore[arg-type]

    async def serve(self, vnn: int) -> None:
        """Poll a host's bundle until the study is over."""
        await self.bundles[vnn].until(lambda: vnn in self.over, "the end of the study")

    def serve_far(self) -> None:
        """Start the program of the last host, which polls until `stop`."""
        self._serving = self.lab.spawn(self.serve(self.far), "the far program")

    async def answered(self) -> None:
        """Poll on the first host until all requests of its first endpoint are answered."""
        await self.bundles[0].until(lambda: not self.endpoints[0].unanswered, "the answers")

    async def stop(self, index: int | None = None) -> None:
        """End the program of the last host by a message and wait until it has ended.

        Args:
            index: translation of the last host's endpoint. None: the number of the host.
        """
        await self.endpoints[0].request(self.far if index is None else index, LAST)
        await self.answered()
        await self.lab.all([self._serving])

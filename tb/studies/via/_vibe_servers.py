"""Client/server micro-benchmarks of VIBe (paper 001, 4.2.3): transactions per second with one or several server
threads.

A client sends a request and waits for the whole reply before it sends the next. A server of several threads has all its
receive queues on one completion queue. Model `slaves`: a master thread waits there and passes each request to a slave.
Model `pool`: all workers wait there. Every thread sleeps while it waits, because all threads of a host share one CPU.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from firmware.via.host.common.errors import Result, VipError
from pymodels.kernel import Task
from tb.lab.lab import Lab
from tb.studies.kit.findings import curve
from tb.studies.via._via_case import AHEAD, ENTRIES, Case, Party
from tb.studies.via._via_ends import End, join, part

REQUEST = 16
REPLIES = (16, 256, 4096)
CLIENTS = (1, 2, 4)
WORKERS = 3
PATIENCE_US = 2000.0
"""Time without a request after which a worker checks whether all requests are served, us."""


async def servers(lab: Lab, near: End, far: End, rounds: int) -> None:
    """Measure one client and a single-threaded server over the size of the reply, then several clients and threads."""
    rates = [await _single(lab, near, far, reply, rounds) for reply in REPLIES]
    curve(lab, "transactions", REPLIES, rates, "B", "transactions/s", "transactions_per_s_{}B")
    for model in ("slaves", "pool"):
        rates = [await _Server(lab, near, far, clients, rounds).serve(model) for clients in CLIENTS]
        metric = f"transactions_per_s_{model}_{{}}_clients"
        curve(lab, f"transactions_{model}", CLIENTS, rates, "clients", "transactions/s", metric)


async def _single(lab: Lab, near: End, far: End, reply: int, rounds: int) -> float:
    """Return the transactions per second of one polling client with a polling server."""
    case = Case(max(reply, REQUEST))
    client, server = await Party.make(near, case, rounds), await Party.make(far, case, rounds)
    await join(near, client.vi, far, server.vi)
    for _ in range(AHEAD):
        await client.expect(reply)
        await server.expect(REQUEST)

    async def ask() -> None:
        for _ in range(rounds):
            await client.send(REQUEST)
            await client.expect(reply)
            await client.received()
            await client.sent()

    async def answer() -> None:
        for _ in range(rounds):
            await server.received()
            await server.send(reply)
            await server.expect(REQUEST)
            await server.sent()

    begun = lab.kernel.now
    await lab.all([near.process.spawn(ask(), "client"), far.process.spawn(answer(), "server")])
    elapsed = lab.kernel.now - begun
    await part(lab, client.vi, server.vi)
    await client.close()
    await server.close()
    lab.findings.messages += 2 * rounds
    return rounds / elapsed * 1e12


class _Server:
    """Several clients in one process, and a server of several threads."""

    def __init__(self, lab: Lab, near: End, far: End, clients: int, rounds: int) -> None:
        self.lab, self.near, self.far = lab, near, far
        self.clients, self.rounds = clients, rounds
        self.left = clients * rounds
        self.parties: list[tuple[Party, Party]] = []
        self.by_vi: dict[int, Party] = {}
        self.queue: Any = None
        self.requests: deque[Party] = deque()
        self.request = far.host.event("a request")

    async def serve(self, model: str) -> float:
        """Serve all requests by a model and return the transactions per second."""
        await self._open()
        workers = [self.far.process.spawn(work, name) for name, work in self._workers(model)]
        clients = [self.near.process.spawn(self._ask(party), "client") for party, _ in self.parties]
        begun = self.lab.kernel.now
        await self.lab.all(clients)
        elapsed = self.lab.kernel.now - begun
        await self._close(workers)
        self.lab.findings.messages += 2 * self.clients * self.rounds
        return self.clients * self.rounds / elapsed * 1e12

    async def _open(self) -> None:
        case = Case(REQUEST, block=True)
        self.queue = await self.far.nic.create_cq(ENTRIES)
        for _ in range(self.clients):
            client = await Party.make(self.near, case, self.rounds)
            server = await Party.make(self.far, case, self.rounds, self.queue)
            await join(self.near, client.vi, self.far, server.vi)
            self.parties.append((client, server))
            self.by_vi[server.vi.number] = server
            for party in (client, server):
                for _ in range(AHEAD):
                    await party.expect(REQUEST)

    async def _close(self, workers: list[Task]) -> None:
        await self.lab.all(workers)
        for client, server in self.parties:
            await part(self.lab, client.vi, server.vi)
            await client.close()
            await server.close()
        await self.queue.destroy()

    def _workers(self, model: str) -> list[tuple[str, Any]]:
        if model == "pool":
            return [(f"worker {i}", self._pool()) for i in range(WORKERS)]
        return [("master", self._master()), *((f"slave {i}", self._slave()) for i in range(WORKERS))]

    async def _ask(self, party: Party) -> None:
        for _ in range(self.rounds):
            await party.send(REQUEST)
            await party.expect(REQUEST)
            await party.received()
            await party.sent()

    async def _next(self) -> Party | None:
        """Return the connection of the next request, or None when all are served."""
        while self.left:
            try:
                vi, _ = await self.queue.wait(PATIENCE_US)
            except VipError as error:
                if error.result is not Result.TIMEOUT:
                    raise
                continue
            self.left -= 1
            await vi.receive_done()
            return self.by_vi[vi.number]
        return None

    async def _reply(self, party: Party) -> None:
        await party.send(REQUEST)
        await party.expect(REQUEST)
        await party.sent()

    async def _pool(self) -> None:
        while (party := await self._next()) is not None:
            await self._reply(party)

    async def _master(self) -> None:
        while (party := await self._next()) is not None:
            self.requests.append(party)
            self.request.set()
        self.request.set()  # all are served: wake every sleeping slave

    async def _slave(self) -> None:
        while self.left or self.requests:
            if self.requests:
                await self._reply(self.requests.popleft())
            else:
                await self.far.process.block(self.request)

"""Headless Chromium, driven over its own protocol: console output of a page, and its visible content.

The protocol is JSON between zero bytes, on the pipes 3 and 4 (`--remote-debugging-pipe`); only the program itself is
needed. Protocol: "Chrome DevTools Protocol", domains Page, Runtime, Log, Emulation.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
START = "import os, sys; _, a, b, *c = sys.argv; os.dup2(int(a), 3); os.dup2(int(b), 4); os.execvp(c[0], c)"
"""Command that moves the two pipes to the numbers that the browser expects, and executes the browser."""
HIGH = 20
"""File descriptors above which the pipes are moved first."""


class Browser:
    """Page in a separate Chromium process."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._number = 0
        self._rest = b""
        self._events: list[dict[str, Any]] = []
        self._session = ""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result. Raises RuntimeError with the browser's message."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self._events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))

    def show(self, page: Path, width: int, scheme: str) -> list[str]:
        """Open a page at a width, light or dark, and return its console output while loading."""
        self._events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._next())
        return [text for event in self._events if (text := _said(event))]

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self) -> bytes:
        """Return the visible content of the whole page, as PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])


def _said(event: dict[str, Any]) -> str:
    """Return the text of a console, log or exception event; empty for any other."""
    method, told = event["method"], event.get("params", {})
    if method == "Log.entryAdded":
        return str(told["entry"]["text"])
    if method == "Runtime.consoleAPICalled":
        return f"{told['type']}: {told['args']}"
    return str(told["exceptionDetails"]) if method == "Runtime.exceptionThrown" else ""


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run a Chromium with an empty profile in a folder during the `with` block."""
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()
    theirs = [fcntl.fcntl(pipe, fcntl.F_DUPFD, HIGH) for pipe in (command_read, answer_write)]
    os.close(command_read)
    os.close(answer_write)
    process = subprocess.Popen(
        [sys.executable, "-c", START, *map(str, theirs), "chromium", *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for pipe in theirs:
        os.close(pipe)
    try:
        yield Browser(command_write, answer_read)
    finally:
        os.close(command_write)
        os.close(answer_read)
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

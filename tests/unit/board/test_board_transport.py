"""Ports of a board: serial devices and TCP, held for one process, with an error for each way to fail."""

from __future__ import annotations

import os
import socket
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb.board.transport import LineError, PortError, open_port

SPEED = 1_000_000


@pytest.fixture(name="terminal")
def fixture_terminal() -> Iterator[tuple[int, str]]:
    """Yield the master of a pseudo-terminal and the name of its port."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(slave)


def test_bytes_pass_a_port_unchanged_in_both_directions(terminal: tuple[int, str]) -> None:
    master, name = terminal
    every = bytes(range(256))
    port = open_port(name, SPEED)
    port.send(every, 1)
    assert os.read(master, 1000) == every
    os.write(master, every)
    assert port.receive(1000, 1) == every
    assert port.receive(1, 0.01) == b""
    port.close()
    os.close(master)


def test_a_missing_port_is_reported_with_the_ports_that_exist(tmp_path: Path) -> None:
    with pytest.raises(PortError, match="does not exist; connect the board, or correct run.port") as error:
        open_port(str(tmp_path / "ttyUSB0"), SPEED)
    assert error.value.exit_code == 2


def test_a_file_is_rejected_as_a_port(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PortError, match="not a serial port"):
        open_port(str(tmp_path / "file"), SPEED)


def test_a_port_of_another_process_is_rejected_until_that_process_closes_it(terminal: tuple[int, str]) -> None:
    master, name = terminal
    held = open_port(name, SPEED)
    with pytest.raises(PortError, match="another process uses it; end that process"):
        open_port(name, SPEED)
    held.close()
    open_port(name, SPEED).close()
    os.close(master)


def test_a_speed_that_the_system_lacks_is_rejected_with_the_known_speeds(terminal: tuple[int, str]) -> None:
    master, name = terminal
    with pytest.raises(PortError, match="no serial speed of 123 bit/s; use one of 9600, "):
        open_port(name, 123)
    os.close(master)


def test_an_unplugged_port_is_reported_as_lost(terminal: tuple[int, str]) -> None:
    master, name = terminal
    port = open_port(name, SPEED)
    os.close(master)
    with pytest.raises(LineError, match="the connection was lost"):
        port.receive(1, 1)
    with pytest.raises(LineError, match="the connection was lost"):
        port.send(b"x", 1)
    port.close()


def test_a_port_that_accepts_nothing_is_reported_after_the_patience(terminal: tuple[int, str]) -> None:
    master, name = terminal
    port = open_port(name, SPEED)
    with pytest.raises(LineError, match="accepts no more bytes for 0.05 s"):
        port.send(bytes(1 << 20), 0.05)
    port.close()
    os.close(master)


def test_a_port_that_never_falls_silent_is_reported() -> None:
    ours, theirs = socket.socketpair()
    from tb.board.transport import Port

    port = Port("port", ours.detach())
    theirs.setblocking(False)
    theirs.send(bytes(100_000))
    with pytest.raises(LineError, match="sends without a request"):
        port.discard(0.01, -1)
    theirs.close()
    port.close()


def test_a_tcp_port_is_opened_by_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = open_port(f"tcp:127.0.0.1:{server.getsockname()[1]}", SPEED)
        connection, _ = server.accept()
        port.send(b"ping", 1)
        assert connection.recv(10) == b"ping"
        connection.close()
        with pytest.raises(LineError, match=r"the connection was lost \(end of the stream\)"):
            port.receive(1, 1)
        port.close()


@pytest.mark.parametrize("name", ["tcp:", "tcp:host", "tcp:host:x", "tcp::4000", "tcp:host:70000"])
def test_an_invalid_tcp_address_is_rejected_with_the_form(name: str) -> None:
    with pytest.raises(PortError, match="write tcp:<host>:<port>"):
        open_port(name, SPEED)


def test_a_tcp_port_without_a_server_is_rejected() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    with pytest.raises(PortError, match="no connection"):
        open_port(f"tcp:127.0.0.1:{number}", SPEED)

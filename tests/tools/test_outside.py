"""Programs of the real machine on a host, on each binding of its verbs.

Strategy: small programs of Python and of the shell are started by `host.outside`, and send requests over their socket.
Simulated time must not advance while they compute, and two runs must be equal although the programs have random delays.
Programs that end, disconnect, stay silent or do not exist are reported. Neither they nor their children outlive their
run, and they reach no network. A program does not see its own process number, so it reports the machine's from /proc.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.host import OutsideError, confined
from pymodels.host.outside import end_all
from tests.patience import PATIENCE_S, wait_for
from tests.tools.hosts import BINDINGS, PATH, Bound

KEPT_IN = pytest.mark.skipif(bool(confined.refusal()), reason=f"the kernel gives no namespaces: {confined.refusal()}")
PROGRAM = """
import os, random, socket, sys, time
place = socket.socket(fileno=int(os.environ["SANLAB_SOCKET"]))
def ask(data):
    place.sendall(len(data).to_bytes(4, "big") + data)
    size = int.from_bytes(place.recv(4, socket.MSG_WAITALL), "big")
    return place.recv(size, socket.MSG_WAITALL) if size else b""
"""
ASKS = (
    PROGRAM
    + """
total = 0
for number in range(3):
    time.sleep(random.SystemRandom().random() / 50)
    total += int(ask(b"%d" % number))
sys.exit(total)
"""
)


@pytest.fixture(name="bound", params=BINDINGS)
def fixture_bound(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bound:
    """Return a host on each binding."""
    return Bound(request.param, library, monkeypatch)


def python(text: str) -> list[str]:
    """Return a command that runs Python code."""
    return [sys.executable, "-c", text]


def alive(process: int) -> bool:
    """Return True if a process runs: neither gone nor a zombie."""
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def gone(process: int) -> None:
    """Wait until a process has ended."""
    wait_for(lambda: not alive(process), f"the end of process {process}")


def test_time_advances_by_the_hosts_actions_and_not_by_the_programs_duration(bound: Bound) -> None:
    seen: list[tuple[int, str, bytes]] = []
    start = bound.kernel.now

    async def serve(name: str) -> int | None:
        program = bound.host.outside(python(ASKS))
        while (asked := await program.request()) is not None:
            seen.append((bound.kernel.now - start, name, asked))
            await bound.host.spend("look_flag")
            program.answer(b"7")
        return program.status  # type: ignore[no-any-return]

    tasks = [bound.host.spawn(serve(name), name) for name in ("a", "b")]
    bound.kernel.run()
    assert [task.finished.value for task in tasks] == [21, 21]
    asked = {name: [(at // PATH, data) for at, of, data in seen if of == name] for name in "ab"}
    assert asked == {"a": [(0, b"0"), (1, b"1"), (3, b"2")], "b": [(0, b"0"), (2, b"1"), (4, b"2")]}


def test_a_program_killed_by_a_signal_is_reported(bound: Bound) -> None:
    program = bound.host.outside(["sh", "-c", "kill -9 $$"])

    async def serve() -> None:
        assert await program.request() is None
        assert await program.request() is None

    bound.ends(serve())
    assert program.status == -signal.SIGKILL


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no_such_program", "1", "2", "3"], "host h: program 'no_such_program 1 2': cannot be started (.*); name a"),
        ([], "host h: program '': cannot be started (.*)"),
        (
            python(f"import time; time.sleep({PATIENCE_S})"),
            "host h: program .*: sent no request for 0.3 s, while the sim",
        ),
        (python(PROGRAM + "place.sendall(bytes(5))"), "sent two requests at once; let it wait for the answer"),
        (python(PROGRAM + "place.sendall(b'abc')"), "broke off in a request, with status "),
        (python(PROGRAM + "place.sendall(bytes([0, 0, 0, 9, 1]))"), "broke off in a request, with status "),
    ],
)
def test_failures_of_programs_are_reported(bound: Bound, command: list[str], said: str) -> None:
    patience_s = 0.3 if "sleep(" in str(command) else PATIENCE_S

    async def serve() -> None:
        await bound.host.outside(command, patience_s).request()

    with pytest.raises(OutsideError, match=said):
        bound.ends(serve())


def test_requests_and_answers_alternate(bound: Bound) -> None:
    async def serve() -> None:
        program = bound.host.outside(python(ASKS))
        with pytest.raises(OutsideError, match="has no pending request; wait for its request first"):
            program.answer(b"")
        await program.request()
        with pytest.raises(OutsideError, match="has an unanswered request; answer it first"):
            await program.request()
        program.kill()
        program.answer(b"nobody listens")

    bound.ends(serve())


def test_a_program_has_variables_a_folder_and_an_output_file(bound: Bound, tmp_path: Path) -> None:
    async def serve() -> None:
        command = ["sh", "-c", "echo $MINE; pwd >&2"]
        given = {"variables": {"MINE": "text"}, "output": tmp_path / "out", "folder": tmp_path}
        await bound.host.outside(command, **given).request()

    bound.ends(serve())
    assert (tmp_path / "out").read_text(encoding="utf-8") == f"text\n{tmp_path}\n"


def test_a_program_answers_questions_within_its_request(bound: Bound) -> None:
    text = PROGRAM + "import sys\nreply = ask(b'first')\nask(reply + b'!') and sys.exit(3)"

    async def serve() -> None:
        program = bound.host.outside(python(text))
        assert await program.request() == b"first"
        assert program.exchange(b"who") == b"who!"
        with pytest.raises(OutsideError, match="ended in a request, with status 3"):
            program.exchange(b"and on")

    bound.ends(serve())


NUMBER = "os.readlink('/proc/self')"
"""Code that determines a process number as the machine counts."""
LEAVES = (
    PROGRAM
    + f"""
into, out = os.pipe()
if not os.fork():
    place.close()
    os.setsid()
    if os.fork():
        os._exit(0)
    os.write(out, {NUMBER}.encode())
    time.sleep({PATIENCE_S})
child = os.read(into, 9)
ask(child + b" " + {NUMBER}.encode())
"""
)
"""Code that leaves a process behind, with its own session and another parent."""
SIMULATOR = f"""
from pymodels.machine import Machine
machine = Machine(2)
async def serve():
    program = machine.host(0).outside({python(LEAVES)!r})
    print((await program.request()).decode(), flush=True)
    import time; time.sleep({PATIENCE_S})
machine.finish(serve())
"""


@KEPT_IN
@pytest.mark.parametrize("ends", ["by itself", "with the run"])
def test_processes_left_behind_by_a_program_end_with_it(bound: Bound, ends: str) -> None:
    numbers: list[int] = []

    async def serve() -> None:
        program = bound.host.outside(python(LEAVES))
        numbers[:] = map(int, (await program.request()).split())
        if ends == "by itself":
            program.answer(b"")
            assert await program.request() is None and program.status == 0

    bound.ends(serve())
    if ends == "with the run":
        assert all(map(alive, numbers))
        end_all()
    for number in numbers:
        gone(number)


@KEPT_IN
def test_a_killed_simulator_ends_its_programs_and_their_children() -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(python(SIMULATOR), cwd=root, stdout=subprocess.PIPE, encoding="utf-8") as simulator:
        assert simulator.stdout is not None
        numbers = [int(word) for word in simulator.stdout.readline().split()]
        assert all(map(alive, numbers))
        os.kill(simulator.pid, signal.SIGKILL)
    for number in numbers:
        gone(number)


@KEPT_IN
def test_a_program_reaches_no_network(bound: Bound) -> None:
    text = (
        PROGRAM
        + """
names = ",".join(name for _, name in socket.if_nameindex())
with socket.socket() as way:
    ask(b"%s %d" % (names.encode(), way.connect_ex(("127.0.0.1", {port}))))
"""
    )

    async def serve(port: int) -> bytes:
        program = bound.host.outside(python(text.format(port=port)))
        return (await program.request()) or b""

    with socket.create_server(("127.0.0.1", 0)) as door:
        task = bound.host.spawn(serve(door.getsockname()[1]), "serve")
        bound.kernel.run()
    names, error = task.finished.value.split()
    assert (names, int(error)) == (b"lo", errno.ENETUNREACH)


def test_a_program_runs_as_its_user_in_files_of_its_own(bound: Bound, tmp_path: Path) -> None:
    async def serve() -> None:
        await bound.host.outside(["sh", "-c", "id -u; touch made"], output=tmp_path / "out", folder=tmp_path).request()

    bound.ends(serve())
    assert int((tmp_path / "out").read_text(encoding="utf-8")) == os.getuid() == (tmp_path / "made").stat().st_uid


def test_programs_run_without_namespaces_if_the_kernel_denies_them(
    bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "refusal", lambda: "Operation not permitted")
    numbers: list[int] = []

    async def serve() -> None:
        program = bound.host.outside(python(PROGRAM + f"ask({NUMBER}.encode())\nsys.exit(3)"))
        numbers.append(int(await program.request() or 0))
        assert alive(numbers[0])
        program.answer(b"")
        assert await program.request() is None and program.status == 3

    bound.ends(serve())
    gone(numbers[0])

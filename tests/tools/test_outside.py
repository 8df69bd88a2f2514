"""Programs of the real machine on a host, on each binding of its verbs.

Strategy: small programs of Python and of the shell are started by `host.outside`, and ask over their socket. Time must
stand still while they compute, and what two runs do must be equal though the programs are slow at random. Programs
that end, break off, say nothing or are not there are named; none of them outlives its run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pymodels.host import OutsideError
from pymodels.host.outside import end_all
from tests.patience import PATIENCE_S, wait_for
from tests.tools.hosts import BINDINGS, PATH, Bound

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
    """A host on each binding."""
    return Bound(request.param, library, monkeypatch)


def python(text: str) -> list[str]:
    """A command that runs this."""
    return [sys.executable, "-c", text]


def alive(process: int) -> bool:
    """Whether a process runs: not gone, and not waiting to be buried."""
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def gone(process: int) -> None:
    """Wait until a process has ended."""
    wait_for(lambda: not alive(process), f"the end of process {process}")


def test_time_moves_by_what_the_host_does_and_not_by_what_the_program_takes(bound: Bound) -> None:
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


def test_a_program_that_is_killed_by_a_signal_says_so(bound: Bound) -> None:
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
            "host h: program .*: asked nothing for 0.3 s, while the sim",
        ),
        (python(PROGRAM + "place.sendall(bytes(5))"), "asks twice at once; let it wait for the answer"),
        (python(PROGRAM + "place.sendall(b'abc')"), "broke off in a request, with status "),
        (python(PROGRAM + "place.sendall(bytes([0, 0, 0, 9, 1]))"), "broke off in a request, with status "),
    ],
)
def test_what_goes_wrong_is_named(bound: Bound, command: list[str], said: str) -> None:
    patience_s = 0.3 if "sleep(" in str(command) else PATIENCE_S

    async def serve() -> None:
        await bound.host.outside(command, patience_s).request()

    with pytest.raises(OutsideError, match=said):
        bound.ends(serve())


def test_requests_and_answers_alternate(bound: Bound) -> None:
    async def serve() -> None:
        program = bound.host.outside(python(ASKS))
        with pytest.raises(OutsideError, match="has asked nothing; wait for its request first"):
            program.answer(b"")
        await program.request()
        with pytest.raises(OutsideError, match="was not answered, and can ask nothing more; answer it first"):
            await program.request()
        program.kill()
        program.answer(b"nobody listens")

    bound.ends(serve())


def test_a_program_has_variables_a_folder_and_a_file_for_what_it_prints(bound: Bound, tmp_path: Path) -> None:
    async def serve() -> None:
        command = ["sh", "-c", "echo $MINE; pwd >&2"]
        given = {"variables": {"MINE": "text"}, "output": tmp_path / "out", "folder": tmp_path}
        await bound.host.outside(command, **given).request()

    bound.ends(serve())
    assert (tmp_path / "out").read_text() == f"text\n{tmp_path}\n"


def test_a_program_is_asked_back_within_its_request(bound: Bound) -> None:
    text = PROGRAM + "import sys\nreply = ask(b'first')\nask(reply + b'!') and sys.exit(3)"

    async def serve() -> None:
        program = bound.host.outside(python(text))
        assert await program.request() == b"first"
        assert program.exchange(b"who") == b"who!"
        with pytest.raises(OutsideError, match="ended in a request, with status 3"):
            program.exchange(b"and on")

    bound.ends(serve())


def test_the_end_of_a_run_ends_programs_and_what_they_have_started(bound: Bound) -> None:
    numbers: list[int] = []
    text = PROGRAM + f"import subprocess\nchild = subprocess.Popen(['sleep', '{PATIENCE_S}'])\nask(b'%d' % child.pid)\n"

    async def serve() -> None:
        numbers.append(int(await bound.host.outside(python(text)).request()))

    bound.ends(serve())
    assert alive(numbers[0])
    end_all()
    gone(numbers[0])


def test_a_simulator_that_is_killed_takes_its_programs_along() -> None:
    text = f"""
from pymodels.machine import Machine
machine = Machine(2)
async def serve():
    program = machine.host(0).outside({python(PROGRAM + "ask(b'%d' % os.getpid())")!r})
    print((await program.request()).decode(), flush=True)
    import time; time.sleep({PATIENCE_S})
machine.finish(serve())
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen(python(text), cwd=root, stdout=subprocess.PIPE, text=True) as simulator:
        assert simulator.stdout is not None
        number = int(simulator.stdout.readline())
        assert alive(number)
        os.kill(simulator.pid, signal.SIGKILL)
    gone(number)

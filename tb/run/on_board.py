"""Run of a study on a board, in a process of its own: `python -m tb.run.on_board` with the request in SANLAB_RUN.

The process leaves the files of a run (`tb/README.md`) in the folder of its request. Its exit code is 0 if all checks of
the study hold.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from firmware.images import cores
from firmware.layers import boot_words
from firmware.stack import stack
from pymodels.errors import SanlabError
from pymodels.host.outside import end_all
from pymodels.results import write_atomically
from tb.board.found import connected, manifest_of, reported
from tb.board.kernel import BoardKernel
from tb.board.lab import BoardLab
from tb.board.link import BoardLink
from tb.board.running import RunningBoard
from tb.lab.cases import RunCases
from tb.lab.lab import view_of
from tb.lab.outcome import leave_behind
from tb.plan import studies
from tb.plan.on_board import FOLDER, PATIENCE, PORT
from tb.plan.options import options_by_layer
from tb.plan.request import Plan, Request, plan
from tb.run.ends import die_with_parent, failure_text, leave_interrupts_to_parent
from tb.run.simulate import Outcome, how_it_ended
from tb.stuck.watch import explain_failure
from tb.tools.paths import ROOT
from tb.tools.plain import plain

RUN, FAILURES, REQUEST = "SANLAB_RUN", "failures.txt", "request.json"


def asked(request: Request, understood: Plan) -> Request:
    """Return a request with what its board reports. Raises SanlabError if the board does not fit it.

    Args:
        request: Request of a run on a board.
        understood: Its plan before the connection.
    """
    with connected(request.settings[PORT], float(understood.options[PATIENCE])) as (_, identity):
        made = manifest_of(identity, str(understood.options[FOLDER]))
        found = replace(request, board=reported(identity, made))
    check_firmware(plan(found, studies.load(request.study)))
    return found


def check_firmware(understood: Plan) -> None:
    """Raise SanlabError if the C firmware of the layers does not fit the board with the options of a plan."""
    word_bytes = cores()[understood.profile.kind].word_bytes
    options = options_by_layer(understood.options)
    for layer in stack(studies.load(understood.request.study).layers, options):
        for vnn in range(len(understood.cluster.hosts)):
            boot_words(layer, view_of(understood, vnn, options.get(layer, {})), word_bytes)


def run_on_board(request: Request, folder: Path, descriptors: tuple[int, ...]) -> Outcome:
    """Run a request, saved in `folder`, in a process that never outlives the call.

    Args:
        request: Request with what the board reports.
        folder: Folder for the files of the run.
        descriptors: File descriptors for the process.
    """
    log = folder / "sim.log"
    command = [sys.executable, "-m", __name__]
    roots = os.pathsep.join([str(plain(ROOT)), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, RUN: str(folder), "PYTHONPATH": roots, "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT, pass_fds=descriptors)
        try:
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
    failures = _failures(folder)
    if code and not failures:
        failures = [f"the run on the board ended before its results ({how_it_ended(code)}); see {log}"]
    return Outcome(passed=not failures and code == 0, tests=1, failures=failures, log=log)


def _failures(folder: Path) -> list[str]:
    file = folder / FAILURES
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def main() -> int:
    """Run the study of the request, and leave its results; return the exit code."""
    folder = Path(os.environ[RUN])
    request = Request.load(folder / REQUEST)
    info = studies.load(request.study)
    understood = plan(request, info)
    patience_s = float(understood.options[PATIENCE])
    try:
        with connected(request.settings[PORT], patience_s) as (bridge, identity):
            if identity.hash != request.board["hash"]:
                manifest_of(identity, str(understood.options[FOLDER]))
            link = BoardLink(bridge, identity, BoardKernel())
            with link.raising_causes():
                return _run(folder, info, understood, link)
    except SanlabError as error:  # before the study began
        write_atomically(folder / FAILURES, f"{error}\n")
        return 1


def _run(folder: Path, info: studies.StudyInfo, understood: Plan, link: BoardLink) -> int:
    begun = time.perf_counter()
    trace = bool(understood.options["run.trace"])
    link.start(trace)
    board = RunningBoard(link, understood.profile, understood.cluster.names, trace)
    lab = BoardLab(understood, board)
    cases, ended, invariants = RunCases(folder, info, lab, begun), list[str](), dict[str, tuple[list[str], int]]()
    die_with_parent(ended.append)
    leave_interrupts_to_parent()
    error: BaseException | None = None
    whole = info.run(lab)
    with board.watched(lab.option("run.turn_s"), lab.option("run.limit_s"), cases.note):
        try:
            main = lab.spawn(whole, f"study {info.name}")
            board.engine.run(main, int(understood.options["run.hang_us"]) * 1_000_000)
            invariants["status registers"] = (board.broken_invariants(), 0)
            link.finish()
        except BaseException as raised:  # noqa: BLE001 - results and trace are written first, whatever ended the study
            error = link.cause_of(raised) if isinstance(raised, Exception) else raised
            traceback.print_exc()
            ended.append(failure_text(error, info, whole))
    end_all()
    broken = [f"invariant: {line}" for lines, _ in invariants.values() for line in lines]
    cycles = explain_failure(lab, error, [])
    lab.findings.failures += [*broken, *ended, *cycles, *cases.disagreements()]
    cases.finish(error, [*ended, *cycles], invariants)
    link.abandon()
    leave_behind(folder, info, lab, time.perf_counter() - begun, understood.request.board["name"])
    return int(bool(lab.findings.failures))


if __name__ == "__main__":
    sys.exit(main())

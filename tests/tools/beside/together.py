"""Comparison of a Python firmware and its C, step by step on the same traffic.

A step of the main loop begins with the firmware's state. Whenever the firmware charges a path, the path's C runs on the
state left by the earlier paths of this step. At the end of the step both programs must have the same state. They must
have stored the same words in NIC memory and the same values in special registers.

A step that leaves the straight line whose instructions are counted is not compared, because the code off a path is
incomplete.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pymodels.registers import Reg
from tests.tools.beside.compiled import Compiled, Image
from tests.tools.beside.declarations import Type
from tests.tools.beside.state import Put, State, Var

Locals = Mapping[str, Any]
"""Variables of the method that charges a path."""
Arguments = Sequence[Any]


@dataclass
class Step:
    """Step in progress."""

    nic: Any
    name: str
    state: State
    puts: Mapping[int, Var]
    """Words that only the C keeps in NIC memory."""
    image: Image
    shared: Any
    """State of this step that the layer needs again."""
    packet: range
    """Addresses of the packet of this step; the next one may be stored there once the firmware has read it."""
    paths: list[str] = field(default_factory=list)
    off: str = ""
    """Reason for which the C can no longer be compared."""
    stored: dict[int, int] = field(default_factory=dict)
    """Words that the firmware has stored in NIC memory."""
    written: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Values that the firmware has written to special registers."""
    told: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Values written by the C."""
    reads: dict[str, int] = field(default_factory=dict)


class Layer(Protocol):
    """Description of a layer for the comparison."""

    hooks: tuple[type, ...]
    """Classes whose new objects the layer registers."""
    paths: Container[str]
    """Paths for which `arguments` is defined."""
    whole: frozenset[str | tuple[str, str]]
    """Reasons for leaving a path, or one of the paths, after which the C is complete nevertheless."""

    def made(self, what: Any) -> None:
        """Register a new part of a firmware."""

    def state(self, nic: Any) -> tuple[Any, Sequence[Put]] | None:
        """Return the argument common to all paths, and the words that the C keeps in NIC memory; None: not compared."""

    def roots(self, shared: Any) -> Mapping[str, Any]:
        """Return the values to lay out at the start of a step, by name of the structure."""

    def arguments(self, path: str, nic: Any, shared: Any, at: Locals, times: int) -> Iterable[Arguments] | None:
        """Return the arguments of each run of the path; None: its C is not run."""

    def packet(self, shared: Any, name: str) -> range:
        """Return the addresses of the packet of a step."""

    def is_private_register(self, nic: Any, name: str) -> bool:
        """Return True if only one program writes a special register."""

    def is_private(self, nic: Any, address: int, stored: bool) -> bool:
        """Return True if a word of NIC memory exists in one program only. `stored`: the firmware has stored it."""


class Together:
    """Both programs of one layer."""

    def __init__(self, compiled: Compiled, layer: Layer, enough: int) -> None:
        self._compiled, self._layer, self._enough = compiled, layer, enough
        self.charged: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        """Runs of each path's C in steps that were compared to their end."""
        self.left: Counter[tuple[str, str]] = Counter()
        """Runs that left a path, by path and reason."""
        self.wrong: list[tuple[str, str]] = []
        """Paths of a step, and the differences of the programs."""
        self._steps: dict[int, Step] = {}
        self._now: dict[int, str] = {}
        """Name of the current step of each NIC."""
        self._in: dict[str, set[str]] = defaultdict(set)
        """Paths charged in each step, by its name."""
        self._tried: Counter[str] = Counter()
        self._images: dict[int, Image] = {}

    # ---- steps

    def begin(self, nic: Any, name: str) -> None:
        """Begin a step of the main loop."""
        self._steps.pop(id(nic), None)
        self._now[id(nic)] = name
        if nic.word_bytes != 8 or not self._wanted(name):
            return
        found = self._layer.state(nic)
        if found is None:
            return
        shared, puts = found
        image = self._images.get(id(nic.sram))
        if image is None:
            image = self._images[id(nic.sram)] = Image(nic.sram)
        image.clear()
        for put in puts:
            image.put(put.address, put.var.value())
        state = State(image.memory, self._compiled.declared)
        for of, root in self._layer.roots(shared).items():
            state.pointer(Type(self._compiled.declared.structs[of], 1), root, of)
        self._steps[id(nic)] = Step(
            nic, name, state, {put.address: put.var for put in puts}, image, shared, self._layer.packet(shared, name)
        )
        self._tried[name] += 1

    def _wanted(self, name: str) -> bool:
        return self._tried[name] < 4 * self._enough or any(
            self.compared[path] < self._enough for path in self._in[name]
        )

    def charge(self, nic: Any, path: str, at: Locals, times: int) -> None:
        """Run the C of a path charged by the firmware."""
        self.charged[path] += 1
        if path in self._layer.paths:
            self._in[self._now.get(id(nic), "")].add(path)
        step = self._steps.get(id(nic))
        if step is None or step.off:
            return
        runs = self._layer.arguments(path, nic, step.shared, at, times)
        if runs is None:
            step.off = f"{path} is not run"
            return
        self._run(step, path, runs)

    def _run(self, step: Step, path: str, runs: Iterable[Arguments]) -> None:
        _, parameters = self._compiled.declared.paths[path]
        for given in runs:
            step.image.refresh(step.stored, step.packet)
            arguments = [step.state.argument(of, one) for of, one in zip(parameters, given, strict=True)]
            reasons, _ = self._compiled.run(path, arguments, step.reads)
            step.image.ran()
            for name, value in self._compiled.written():
                step.told[name].append(step.image.memory.address(value))
            step.paths.append(path)
            self.left.update((path, off) for off in reasons)
            if off := next((off for off in reasons if not {off, (path, off)} & self._layer.whole), ""):
                step.off = off
                return

    def end(self, nic: Any) -> None:
        """End a step and compare both programs."""
        step = self._steps.pop(id(nic), None)
        if step is None or step.off or not step.paths:
            return
        wrong = list(self._differences(step))
        self.wrong.extend((" ".join(step.paths), one) for one in wrong)
        for path in step.paths:
            self.compared[path] += 1

    def _differences(self, step: Step) -> Iterator[str]:
        yield from step.state.differences()
        for address, var in step.puts.items():
            if (told := step.image.nic_value(address)) != var.value():
                yield f"{var.name} at {address:#x}: the C has {told:#x}, the firmware {var.value():#x}"
        for address in sorted((step.image.own | step.stored.keys()) - step.puts.keys()):
            yield from self._word(step, address)
        for name in step.told.keys() | step.written.keys():
            if step.told[name] != step.written[name] and not self._layer.is_private_register(step.nic, name):
                yield f"register {name}: the C writes {step.told[name]}, the firmware {step.written[name]}"

    def _word(self, step: Step, address: int) -> Iterator[str]:
        """Yield the difference of a word of NIC memory that one of the programs has stored."""
        told, is_now = step.image.nic_value(address), step.stored.get(address)
        agreed = step.image.has_value(address, step.image.before[address] if is_now is None else is_now)
        if not agreed and not self._layer.is_private(step.nic, address, is_now is not None):
            yield f"word {address:#x}: the C has {told:#x}, the firmware {is_now if is_now is None else hex(is_now)}"

    # ---- actions of the firmware

    def stored(self, nic: Any, address: int, words: Sequence[int]) -> None:
        """Note words stored in NIC memory by the firmware."""
        if (step := self._steps.get(id(nic))) is not None:
            step.stored.update((address + 4 * index, word) for index, word in enumerate(words))

    def changed(self, memory: Any, address: int, size: int) -> None:
        """Note a store in a memory by any writer."""
        if (image := self._images.get(id(memory))) is not None:
            image.changed.update(range(address & ~3, address + size, 4))

    def wrote(self, nic: Any, register: int, value: int) -> None:
        """Note a written special register."""
        if (step := self._steps.get(id(nic))) is not None:
            step.written[Reg(register).name].append(value)

    def read(self, nic: Any, register: int, value: int) -> None:
        """Note the value read from a special register."""
        if (step := self._steps.get(id(nic))) is not None:
            base = step.image.memory.base if Reg(register) in (Reg.RMP, Reg.SMP) else 0
            step.reads[Reg(register).name] = value + base

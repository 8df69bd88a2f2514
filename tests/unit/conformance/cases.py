"""Cases of the conformance suite: each layer with mail, with each set of options in its descriptor's promises."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

from firmware.layer import Options
from firmware.layers import load, with_mail
from firmware.promises import Promise, parse
from tb.plan.fitting import fitting_profiles
from tests.unit.conformance.bench import Bench

PS = 1_000_000
"""Picoseconds in a microsecond."""


@dataclass(frozen=True)
class Case:
    """Layer with options, and its promises with them."""

    layer: str
    text: str
    """Options in the descriptor's notation."""
    promised: Promise

    @property
    def options(self) -> dict[str, Any]:
        """Options by name."""
        return parse(self.text)

    def bench(self, nodes: int = 2, nic: str = "", more: Options = MappingProxyType({})) -> Bench:
        """Return started hosts of the case; `more` are further options of the layer."""
        return Bench(self.layer, nodes, nic=nic, **self.options, **dict[str, Any](more))

    def __str__(self) -> str:
        words = [self.layer, *(word.partition("=")[2] for word in self.text.split())]
        return "-".join(words)


CASES = [Case(layer, text, kept) for layer in with_mail() for text, kept in load(layer).promises.items()]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def _kinds(case: Case) -> list[str]:
    """Return the kinds of NIC that a case runs on, the usual one first."""
    return list(dict.fromkeys(one.kind for one in fitting_profiles(case.layer, {case.layer: case.options})))


KINDS = [(case, kind) for case in CASES for kind in _kinds(case)[1:]]
"""Cases with each additional kind of NIC that they run on."""

"""Table of promises in `firmware/README.md`: equal to the descriptors, with the documented meanings.

Strategy: each row is generated from the descriptors of the checkout's layers and from `firmware/promises.py`, and
compared with the page.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from itertools import pairwise

import pytest

from firmware.layer import Layer, LayerError
from firmware.layers import load, with_mail
from firmware.options import ON
from firmware.promises import Promise, parse
from tb.tools.paths import ROOT
from tests.unit.conformance.cases import CASES, Case

PAGE = (ROOT / "firmware" / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?P<meaning>.+?) \| (?P<kept>.+?) \|$", re.MULTILINE)
HERE = [case for case in CASES if (ROOT / "firmware" / case.layer).is_dir()]
"""Cases of the layers of the checkout; other roots have pages of their own."""


def written(case: Case) -> str:
    """Return the name of a case as the page writes it."""
    return f"`{case.layer}`" + (f" with `{case.text}`" if case.text else "")


def kept_by(promise: Promise) -> str:
    """Return the cases that keep a promise, or those that do not if they are fewer."""
    keep = [written(case) for case in HERE if promise in case.promised]
    lack = [written(case) for case in HERE if promise not in case.promised]
    return ", ".join(keep) if len(keep) <= len(lack) else "all but " + ", ".join(lack) if lack else "all"


def meanings() -> dict[str, str]:
    """Return the documentation of each promise, on one line."""
    tree = ast.parse((ROOT / "firmware" / "promises.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    found = {}
    for named, text in pairwise(body):
        if isinstance(named, ast.Assign) and isinstance(text, ast.Expr):
            (name,) = named.targets
            found[ast.unparse(name)] = " ".join(ast.literal_eval(text.value).split())
    return found


def test_the_page_lists_every_promise_with_its_meaning_and_the_layers_that_keep_it() -> None:
    rows = [(found["name"], found["meaning"], found["kept"]) for found in ROW.finditer(PAGE)]
    documented = meanings()
    assert rows == [(str(one.name), documented[str(one.name)].rstrip("."), kept_by(one)) for one in Promise]


def test_every_layer_with_mail_is_a_case_with_its_default_options() -> None:
    assert [case.layer for case in CASES if not case.text] == with_mail()


def test_each_case_names_options_of_its_layer() -> None:
    for case in CASES:
        layer = load(case.layer)
        known = {one.name for one in fields(layer.options)} if layer.options is not None else set()
        assert set(parse(case.text)) <= known | ({ON} if layer.stands_on else set())


def test_a_promise_of_another_type_is_rejected() -> None:
    with pytest.raises(LayerError, match=r"layer 'mine': promises\[''\] is 'order'; give members of Promise"):
        Layer(name="mine", library=print, promises={"": "order"})  # type: ignore[dict-item]


def test_a_layer_with_mail_and_without_promises_is_a_case() -> None:
    assert list(Layer(name="mine", library=print).promises.items()) == [("", Promise(0))]

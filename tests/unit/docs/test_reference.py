"""The generated reference.

Strategy: each generator reads a small source made for the test, with one case of every form. Then each page is compared
with the definition that it is made from: no target, setting, event, port or error may be missing.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pymodels.trace import TraceEvent
from tb.docs import markdown
from tb.docs.reference import api, commands, enums, errors, hdl, options
from tb.plan import studies
from tb.plan.request import RUN_OPTIONS
from tb.quality import names
from tb.quality.text import bare
from tb.tools.paths import ROOT

ERRORS = '''
class SanlabError(Exception):
    """Base."""
    def __init__(self, what, cause, remedy): ...
class PlaceError(SanlabError):
    """A place that is wrong."""
    def __init__(self, where, what, cause="nothing is there"):
        remedy = "name another"
        super().__init__(f"{where}: {what}", cause, remedy)
def plain(size):
    raise SanlabError("size", f"{size} is negative", "give 0 or more")
def by_names(kind):
    what, remedy = f"a {kind}", "give one"
    cause = "short" if kind else "long"
    raise SanlabError(what, cause, remedy)
def by_constructor():
    raise PlaceError("host", "port 9")
def by_keywords():
    raise SanlabError(what="a", cause="b", remedy="c")
def _error(cause, remedy="shorten it"):
    return SanlabError("name", cause, remedy)
def by_helper(size):
    if size:
        raise _error(f"{size} bytes")
    raise _error("empty", "give one")
def fail(cause, remedy):
    raise SanlabError("value", cause, remedy)
def violation(size):
    limit = "two"
    if size:
        return "long", f"{limit} is the most"
def by_star(size):
    if (found := violation(size)) is not None:
        raise SanlabError("text", *found)
'''
ELSEWHERE = """
def outside():
    fail("not of a.py", "or its folder")
def _other():
    _error("private", "to a.py")
"""


@pytest.fixture(name="made_up")
def fixture_made_up() -> list[errors.Site]:
    """Return the errors of a source with one function for each form."""
    return list(errors.sites({"a.py": ast.parse(ERRORS)}))


def test_message_of_an_error_is_shown_as_a_pattern(made_up: list[errors.Site]) -> None:
    assert errors.Site("SanlabError", "a.py", ("size", "<size> is negative", "give 0 or more")) in made_up


def test_local_names_are_replaced_by_their_texts(made_up: list[errors.Site]) -> None:
    assert errors.Site("SanlabError", "a.py", ("a <kind>", "short | long", "give one")) in made_up


def test_arguments_of_a_class_are_put_into_the_text_of_its_constructor(made_up: list[errors.Site]) -> None:
    parts = ("host: port 9", "nothing is there", "name another")
    assert errors.Site("PlaceError", "a.py", parts) in made_up


def test_keywords_give_the_parts_of_a_message(made_up: list[errors.Site]) -> None:
    assert errors.Site("SanlabError", "a.py", ("a", "b", "c")) in made_up


def test_calls_of_a_function_that_gets_the_cause_are_in_its_place(made_up: list[errors.Site]) -> None:
    named = [one.parts for one in made_up if one.parts[0] == "name"]
    assert named == [("name", "<size> bytes", "shorten it"), ("name", "empty", "give one")]


def test_starred_argument_is_replaced_by_the_tuples_that_it_may_be(made_up: list[errors.Site]) -> None:
    assert errors.Site("SanlabError", "a.py", ("text", "long", "two is the most")) in made_up


def test_function_that_is_not_called_nearby_is_kept() -> None:
    trees = {"one/a.py": ast.parse(ERRORS), "two/b.py": ast.parse(ELSEWHERE)}
    found = [one.parts for one in errors.sites(trees)]
    assert ("value", "<cause>", "<remedy>") in found and "private" not in {parts[1] for parts in found}


def test_index_of_errors_has_every_class_and_three_parts_almost_everywhere() -> None:
    trees = errors.sources()
    found = list(errors.sites(trees))
    raised = {one.error for one in found}
    text = "\n".join(errors.page())
    assert {f"## {name}" for name in raised} <= set(text.splitlines())
    assert len(raised) > 40 and len(found) > 700
    assert sum(len(one.parts) == 3 for one in found) > 0.95 * len(found)


def test_page_of_commands_has_every_target_and_variable() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {name for name, _, _ in commands.targets(makefile)} == set(
        re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE)
    )
    shown = {name.partition("=")[0] for name, _ in commands.variables(makefile)}
    assert shown == set(re.findall(r"^## (\w+)=", makefile, re.MULTILINE))
    used = {name: variables for name, _, variables in commands.targets(makefile)}
    assert used["run"].startswith("STUDY SIM SEED") and "WAVES" not in used["waves"].split()


def test_usage_of_a_command_is_its_help() -> None:
    assert commands.usage("cluster").startswith("usage: sanlab cluster")


def test_page_of_settings_has_every_study_and_every_run_option() -> None:
    text = "\n".join(options.page())
    own = [name for name in studies.names() if f"### study {name}\n" in text]
    assert len(own) > len(studies.names()) // 2
    assert [name for name in RUN_OPTIONS if f"| `{name}` |" not in text] == []
    assert "| `grim.timeout_us` |" in text and "| `switch.fall_through_ns` |" in text


def test_page_of_trace_events_has_every_event() -> None:
    text = "\n".join(enums.trace_events())
    assert [one.name for one in TraceEvent if f"| `{one.name}` | `{int(one):#05x}` |" not in text] == []


def test_page_of_registers_has_every_map() -> None:
    text = "\n".join(enums.registers())
    assert {f"## {title}" for title in enums.register_maps()} <= set(text.splitlines())
    assert "| `ISR` | `0x50` |" in text


def test_page_of_hdl_has_every_port() -> None:
    for one in hdl.modules():
        expected = names.ports(bare(one.path.read_text(encoding="utf-8")))
        assert {pin.name: pin.kind for pin in one.pins if pin.kind in {"input", "output"}} == expected, one.name
        assert one.about, one.name


def test_docstring_in_google_style_becomes_a_list() -> None:
    text = "Send a message.\n\nArgs:\n    size: Bytes, at most\n        4096.\n\nReturns:\n    The key."
    shown = "\n".join(markdown.docstring(text))
    assert "**Args**" in shown and "- `size`: Bytes, at most\n  4096." in shown and "- The key." in shown


def test_marks_of_markdown_in_docstrings_are_escaped_outside_of_code() -> None:
    assert markdown.escape("a_b `c_d` <e>") == "a\\_b `c_d` \\<e\\>"


def test_page_of_an_api_shows_signatures_and_hides_private_names(tmp_path: Path) -> None:
    source = (
        'class Card:\n    """A card."""\n    width: int\n    """Bytes."""\n'
        '    async def send(self, size: int = 4) -> None:\n        """Send."""\n'
        '    def _hidden(self) -> None: ...\n    @property\n    def busy(self) -> bool:\n        """True while."""\n'
    )
    (node,) = ast.parse(source).body
    shown = "\n".join(api._object(node, 5))
    assert "{py:method} send(size: int=4) -> None\n:async:" in shown and "_hidden" not in shown
    assert "- `width`: `int`: Bytes." in shown and "{py:property} busy\n:type: bool" in shown


def test_every_layer_has_a_page_of_its_api() -> None:
    assert {"layer_echo", "layer_grim", "library", "agents"} <= set(api.pages())

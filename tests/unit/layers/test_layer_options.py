"""Declared options: every default is valid, and every invalid value is rejected with the same form of message.

Strategy: options of layers, studies and runs are given values below and above their range, values of a wrong type,
and unknown words. Values come as text of SET and, for layers, from Python. Messages are compared completely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from firmware.layers import load, names
from firmware.options import ON, OptionError
from pymodels.errors import ConfigError, nearest
from pymodels.options import Option
from tb.plan import studies
from tb.plan.request import RUN_OPTIONS

LAYERS = {name: options for name in names() if (options := load(name).options) is not None}
OF_LAYERS = {f"{name}.{option}": one for name, of in LAYERS.items() for option, one in of.declared().items()}
OF_STUDIES = {f"{study} {name}": one for study in studies.names() for name, one in studies.load(study).options.items()}
WORD = "no such word"


def invalid(name: str, one: Option) -> Iterator[tuple[float | str, str]]:
    """Yield invalid values of an option, each with the message that rejects it."""
    if isinstance(one.default, str):
        if one.choices:
            yield WORD, f"unknown word: {name} is {WORD!r}; {nearest(WORD, filter(None, one.choices))}"
        return
    kind = "a whole number" if isinstance(one.default, int) else "a number"
    yield "many", f"wrong type: {name} is 'many'; give {kind}" + (f" ({one.unit})" if one.unit else "")
    for value in (one.low - 1, one.high + 1):
        remedy = f"give {one.low} to {one.high}" + (f" {one.unit}" if one.unit else "")
        yield value, f"value out of range: {name} is {type(one.default)(value)}; {remedy}"


@pytest.mark.parametrize("options", [OF_LAYERS, OF_STUDIES, RUN_OPTIONS], ids=["layers", "studies", "runs"])
def test_every_default_is_valid_and_equals_its_own_text(options: Mapping[str, Option]) -> None:
    for name, one in options.items():
        assert one.fault(name, one.default) is None, name
        assert one.parse(name, str(one.default)) == one.default, name
        assert one.meaning, name


@pytest.mark.parametrize("options", [OF_LAYERS, OF_STUDIES, RUN_OPTIONS], ids=["layers", "studies", "runs"])
def test_every_option_rejects_text_outside_its_range_or_words(options: Mapping[str, Option]) -> None:
    for name, one in options.items():
        for value, said in invalid(name, one):
            with pytest.raises(ConfigError) as caught:
                one.parse(name, str(value))
            assert str(caught.value) == f"SET: {said}"


@pytest.mark.parametrize("layer", LAYERS)
def test_options_of_a_layer_reject_values_with_the_message_of_set(layer: str) -> None:
    options = LAYERS[layer]
    assert options.from_values({}) == options(**options.completed({}))
    for name, one in options.declared().items():
        values = [*invalid(f"{layer}.{name}", one)]
        number = isinstance(one.default, int)
        for wrong in (0.5, True) if number else (1,):
            what = "wrong type" if number else "unknown word"
            remedy = f"give a whole number{f' ({one.unit})' if one.unit else ''}"
            remedy = remedy if number else nearest(str(wrong), filter(None, one.choices))
            values.append((wrong, f"{what}: {layer}.{name} is {wrong!r}; {remedy}"))
        for value, said in values:
            with pytest.raises(OptionError) as caught:
                options.from_values({name: value})
            assert str(caught.value) == said


@pytest.mark.parametrize("layer", LAYERS)
def test_an_unknown_option_of_a_layer_is_rejected_with_the_nearest_name(layer: str) -> None:
    options = LAYERS[layer]
    first = next(iter(options.declared()))
    with pytest.raises(OptionError) as caught:
        options.from_values({f"{first}x": 1})
    said = f"unknown option '{first}x': {layer} has no such option; did you mean {first!r}?"
    assert str(caught.value) == said


@pytest.mark.parametrize("layer", LAYERS)
def test_option_of_the_layer_below_is_ignored_by_stacked_layers_alone(layer: str) -> None:
    options = LAYERS[layer]
    assert bool(load(layer).stands_on) == options.STACKED
    if options.STACKED:
        assert options.from_values({ON: "grim"}) == options.from_values({})
    else:
        with pytest.raises(OptionError, match=f"unknown option '{ON}'"):
            options.from_values({ON: "grim"})


def test_a_text_option_without_choices_takes_any_text_and_nothing_else() -> None:
    one = Option("", "a text")
    assert one.parse("file", WORD) == WORD
    one.check("file", WORD)
    with pytest.raises(OptionError, match="^wrong type: file is 1; give a text$"):
        one.check("file", 1)


def test_a_number_with_a_unit_is_rejected_with_it() -> None:
    one = Option(1.5, "a length", 0, 9, unit="m")
    one.check("length", 2)
    assert one.parse("length", "2e0") == 2.0
    with pytest.raises(ConfigError, match="^SET: value out of range: length is 9.5; give 0 to 9 m$"):
        one.parse("length", "9.5")
    for value in (True, "long", None):
        with pytest.raises(OptionError, match=f"^wrong type: length is {value!r}; give a number .m.$"):
            one.check("length", value)

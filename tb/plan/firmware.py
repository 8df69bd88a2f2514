"""Language of the NICs' firmware in a run: C, which the NIC executes, or Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firmware.images import cores, image, layers, load
from firmware.layers import check_boot, has_program
from pymodels import generated
from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.profiles import Profile
from tb.plan.options import Option, options_by_layer
from tb.plan.studies import StudyInfo

FIRMWARE = "nic.firmware"
PYTHON, C = "python", "c"
STOP, INSTRUCTIONS, INLINE = "core.stop", "core.instructions", "core.inline"
STOP_AT = Option("", "function at which a NIC that executes its firmware ends the run")
EACH_INSTRUCTION = Option(0, "1 = trace each instruction that a NIC executes", 0, 1)
EACH_INLINE = Option(0, "1 = distinguish inlined functions in the trace", 0, 1)
CORE_OPTIONS = {STOP: STOP_AT, INSTRUCTIONS: EACH_INSTRUCTION, INLINE: EACH_INLINE}
WRITTEN_IN = Option(
    PYTHON, "language of the NICs' firmware: python, or c, which they execute; a list has a word for each host"
)


def nodes_in_c(
    options: Mapping[str, float | str], layer: str, names: Sequence[str], profile: Profile, needs: Sequence[str] = ()
) -> frozenset[int]:
    """Return the nodes whose NICs execute the C firmware of a layer.

    Args:
        options: Options of the run.
        layer: Name of the message layer.
        names: Names of the hosts.
        profile: Profile of the NICs.
        needs: Features of the layer that the study uses (`NEEDS` of the study).

    Raises:
        SanlabError: Invalid setting, no image for this NIC kind, or a feature that the image lacks.
    """
    asked = str(options[FIRMWARE])
    if asked == PYTHON and layer in layers() and not has_program(layer):
        asked = C
    words = [word.strip() for word in asked.split(",")]
    for word in words:
        if word not in (PYTHON, C):
            raise ConfigError("SET", 0, "unknown word", f"{FIRMWARE} has {word!r}", nearest(word, (PYTHON, C)))
    if len(words) not in (1, len(names)):
        cause = f"{FIRMWARE} has {len(words)} words for {len(names)} hosts"
        raise ConfigError(
            "SET", 0, "wrong number of words", cause, "give one word for all hosts, or one for each by VNN"
        )
    given = words * len(names) if len(words) == 1 else words
    in_c = frozenset(vnn for vnn, word in enumerate(given) if word == C)
    if in_c:
        _check(layer, profile.kind)
        _check_stop(str(options[STOP]), layer, profile.kind)
        check_boot(layer, options_by_layer(options).get(layer, {}), needs)
    return in_c


def runs_in_c(info: StudyInfo) -> bool:
    """Return True if a study can run with `nic.firmware=c` and its default options."""
    layer = info.layers[0] if info.layers else ""
    if layer not in layers() or not has_program(layer):
        return False
    options = {name: option.default for name, option in info.options.items()}
    try:
        check_boot(layer, options_by_layer(options).get(layer, {}), info.needs)
    except SanlabError:
        return False
    return True


def _check_stop(function: str, layer: str, kind: str) -> None:
    """Raise StaleError for an outdated image, and ConfigError for a function that the image lacks."""
    known = load(layer, kind).names()
    if function and function not in known:
        raise ConfigError("SET", 0, "unknown function", f"{STOP} is {function!r}", nearest(function, known))


def _check(layer: str, kind: str) -> None:
    """Raise ConfigError for a layer without an image for this NIC kind."""
    asked = f"{FIRMWARE}={C} needs one"
    if layer not in layers():
        what = f"layer {layer!r} has no firmware in C" if layer else "this study starts no message layer"
        raise ConfigError("SET", 0, what, asked, f"layers with firmware in C: {', '.join(sorted(layers()))}")
    kinds = [one for one in cores() if generated.found(image(layer, one)) is not None]
    if kind not in kinds:
        remedy = f"NIC kinds with an image: {', '.join(kinds)}" if kinds else f"run `make firmware LAYER={layer}`"
        raise ConfigError("SET", 0, f"layer {layer!r} has no image for a {kind}", asked, remedy)

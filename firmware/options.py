"""What the options of every layer have in common: the check of names and values against the layer's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pymodels.errors import EXIT_CONFIGURATION, SanlabError, nearest


class OptionError(SanlabError):
    """An option of a message layer that cannot be."""

    exit_code = EXIT_CONFIGURATION


NO_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def check_values(
    layer: str,
    error: Callable[[str, str, str], SanlabError],
    given: Mapping[str, float | str],
    ranges: Mapping[str, tuple[int, int]],
    words: Mapping[str, tuple[str, ...]] = NO_WORDS,
) -> None:
    """Check options of a layer: `ranges` has least and greatest value of each that is a number, `words` the words that
    each other one knows, the empty word where the option may be left open. Raises `error`, which names the option.
    """
    for name, value in given.items():
        if name in words:
            _check_word(error, name, value, words[name])
        elif name not in ranges:
            raise error(f"option {name!r}", f"{layer} does not have it", nearest(name, (*ranges, *words)))
        else:
            least, most = ranges[name]
            if type(value) is not int or not least <= value <= most:
                raise error(f"option {name}", f"{value!r} is not a whole number in {least}..{most}", "give one")


def _check_word(
    error: Callable[[str, str, str], SanlabError], name: str, value: float | str, known: Sequence[str]
) -> None:
    """Raises `error` for a word that an option does not know."""
    if value not in known:
        named = [word for word in known if word]
        raise error(f"option {name}", f"{value!r} is none of its words", nearest(str(value), named))

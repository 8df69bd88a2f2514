"""The small worlds of the message layers: one file a layer, found by its name, with `worlds() -> list[SmallWorld]`."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

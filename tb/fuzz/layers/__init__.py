"""How programs of a message layer are drawn and run, one module a layer, found by its name."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

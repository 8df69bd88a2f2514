"""One folder for each message layer: its host side."""

from pymodels.roots import beyond

__path__ += beyond(__name__)

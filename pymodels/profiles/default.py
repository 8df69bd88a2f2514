"""Default profile, for a run in which neither the user nor the cluster's file names one."""

from __future__ import annotations

DEFAULT_PROFILE = "lanai9"
DEFAULT_KIND = "lanai9"
"""Kind of NIC of the default profile."""

"""The profile used where neither the user nor the cluster's file names one."""

from __future__ import annotations

DEFAULT_PROFILE = "lanai9"
DEFAULT_KIND = "lanai9"
"""The kind of its NIC."""

"""Property tests on a machine that others use too: no deadline for an example, no complaint about slow generation."""

from hypothesis import HealthCheck, settings

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

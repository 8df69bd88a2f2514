"""Fault campaign: effects of single faults on the messages of a layer."""

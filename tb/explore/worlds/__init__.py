"""The small worlds of the message layers: one file a layer, found by its name, with `worlds() -> list[SmallWorld]`."""

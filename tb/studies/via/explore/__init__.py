"""Parts of VIA's small worlds for model checking."""

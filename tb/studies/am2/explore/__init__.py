"""Parts of AM-II's small worlds for model checking."""

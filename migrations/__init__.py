"""Every change of the tables, in order; `service.store.migrate` applies them."""

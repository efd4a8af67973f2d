"""The queue's workers: a light supervisor that claims jobs, and child processes that run them."""

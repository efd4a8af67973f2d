"""Orders and answers whose bytes must not change, each with its digest; `python -m tests.net` says what can be done."""

"""Attacks on orch: each is tried a few times by the tests, and many times by `python -m tests.attacks`."""

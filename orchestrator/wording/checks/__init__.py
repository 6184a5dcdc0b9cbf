"""What checks found, in words: a module for each folder of `orchestrator/checks`, and `sentences`, which joins words."""

"""The command line: `main.py` has the table of verbs, a folder each group of them; heavy imports happen inside a verb."""

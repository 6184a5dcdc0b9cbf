"""A folder for each protocol, whose `__init__.py` says what it offers; `bodies` has a table of several."""

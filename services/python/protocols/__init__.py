"""A folder for each protocol; its `__init__.py` says what it offers."""

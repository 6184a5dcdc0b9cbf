"""What an experiment may say."""

SCHEMA_TITLE = "An orch experiment"
"""The title of the JSON Schema of experiment files, which distinguishes it from another program's `schema.json`."""

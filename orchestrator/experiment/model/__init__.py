"""What an experiment may say."""

SCHEMA_TITLE = "An orch experiment"
"""What the JSON Schema of experiment files is called: by it a `schema.json` is told from another program's."""

"""Both ends of the wire: one folder per protocol. Imports nothing of the orchestrator; never on the import path itself."""

"""The verbs of this machine, its hosts, and the programs and databases that they need."""

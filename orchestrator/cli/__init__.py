"""The command line: one file per verb, each thin; heavy imports happen inside the verb."""

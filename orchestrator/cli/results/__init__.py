"""The verbs that read results: report, compare, predict, export, audit."""

"""The local web page: runs, comparisons, trends and a run while it happens, in a browser (`docs/serve.md`)."""

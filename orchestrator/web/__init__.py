"""The web page of `orch serve`: runs, comparisons, trends and runs in progress, to look at (`docs/serve.md`)."""

"""The web page of `orch serve`: runs, comparisons, trends and runs in progress (`docs/how-to/read-and-share.md`)."""

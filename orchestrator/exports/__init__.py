"""One or many runs as files for other programs, and as data frames for a notebook (docs/exports.md).

`formats` says which formats there are, `targets` where a file may be written, and `as_<format>` writes one. What they write
is made in `cells` (a row for each cell), `samples` (a row for each sample) and `findings` (checks, floors, comparisons).
`notebook` is what the top-level package `orch` hands to a notebook.
"""

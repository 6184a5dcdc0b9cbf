"""One or many runs as files for other programs (docs/reference/data.md).

`writers` has the formats, `targets` where a file may be written. What they write are tables of typed columns:
`cell_columns` (a row for each run and for each cell) and `samples` (a row for each sample).
"""

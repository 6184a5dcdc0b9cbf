"""A report carries the samples that its figures are made from: packed, and enough to make it again.

`made` packs a run folder, `run` is what was packed and can be analysed as a folder can, `rows` writes samples small,
`container` and `block` are the file within the page, `figures` compares what the page states with what the samples give.
"""

"""A report carries the samples that its figures are made from: packed, without names, and enough to make it again.

`made` packs a run folder, `run` is what was packed and can be analysed as a folder can, `rows` writes samples small,
`container` and `block` are the file within the page, `names` replaces what names a machine or a person, `checked` holds a
page against its samples, `signed` is what `orch sign` vouches for.
"""

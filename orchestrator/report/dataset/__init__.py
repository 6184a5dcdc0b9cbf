"""A report can carry all samples of its run: enough to make it again, and to compute its figures again.

`made` packs a run folder, `carried_run` is what was packed and can be analysed as a folder can, `packed_rows` writes samples
small, `block` is the place within the page, `flat_figures` compares what the page states with what the samples give.
"""

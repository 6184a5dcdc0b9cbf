"""One module per chart, each a pure function from a group of the summary to a figure; none computes a statistic."""

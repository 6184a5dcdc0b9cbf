"""The questions that a run may answer beside which stack is fastest: one package each."""

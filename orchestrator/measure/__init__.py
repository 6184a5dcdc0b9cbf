"""The run loop: stages, baselines, trials, progress, resume."""

"""The run folder: manifest, raw samples as Parquet, history, exports."""

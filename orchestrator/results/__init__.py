"""The run folder: manifest, journal, raw samples as Parquet."""

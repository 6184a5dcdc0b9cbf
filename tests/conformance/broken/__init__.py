"""Implementations that each break one promise: the suite must find it, case by case."""

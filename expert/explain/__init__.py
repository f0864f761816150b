"""Explanations as data: proofs over the trace, and the words that facts and values have."""

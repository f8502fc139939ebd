"""Companions: what the metrics of others need, such as n-grams, their tokens, and Java."""

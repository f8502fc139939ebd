"""Systems scored under metrics: scores and comparisons."""

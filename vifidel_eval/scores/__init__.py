"""Systems scored under metrics: scores, comparisons and leaderboards."""

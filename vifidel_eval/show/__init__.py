"""Tables of scores and comparisons, in text, Markdown, LaTeX, CSV and HTML."""

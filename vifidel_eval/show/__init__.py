"""Tables of scores, comparisons and explanations, in text, Markdown, LaTeX, CSV and HTML."""

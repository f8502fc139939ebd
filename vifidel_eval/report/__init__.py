"""Tables of scores, and the page in one HTML file: what people look at."""

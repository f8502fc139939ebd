"""The maths: words and their vectors, bags, distances, penalties and exact optimal transport."""

"""Captions as text: content words, pycocoevalcap's tokens, and Java, which its tokenizer needs."""

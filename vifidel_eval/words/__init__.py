"""Words: content words, word vectors, and where captions mention what pictures show."""

"""Names of what pictures show, and where captions mention them."""

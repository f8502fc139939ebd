"""What of a caption is in the image, as results that a person can read."""

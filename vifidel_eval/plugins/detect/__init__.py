"""Objects in pictures: detectors of other libraries, and questions about what captions name."""

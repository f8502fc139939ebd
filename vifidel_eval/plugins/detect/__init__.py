"""Objects in pictures: detectors of other libraries, asked for classes or for what captions name.

>>> from vifidel_eval.detect import backends
>>> sorted(backends())
['ONNX Runtime', 'transformers']
"""

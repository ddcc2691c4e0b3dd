"""Training of the tile detector and the tile classifier; never imported by the running product.

``python -m vision.training`` lists the steps. Only this package may import torch and onnx.
"""

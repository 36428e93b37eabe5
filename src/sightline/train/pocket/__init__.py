"""The pocket encoder: a compact image network and a small text network in one space, and a region proposer on top.

pack (data to arrays) -> teacher (sentence vectors) -> fit (image and text) -> propose (regions) -> export (ONNX).
"""

"""Rerankers: an HTTP endpoint, or a local ONNX model."""

"""Rerankers: none, an HTTP endpoint, or a local ONNX model."""

"""Local ONNX models: loading a model folder, and embedding with it."""

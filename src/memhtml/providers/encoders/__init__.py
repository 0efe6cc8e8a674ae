"""Encoders: text → vectors, by a local model or by a provider over HTTP."""

"""The outside world behind small protocols: models, encoders, detectors. Loaded when used."""

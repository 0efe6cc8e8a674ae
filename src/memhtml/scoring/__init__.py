"""Arithmetic over numbers and ids. Pure."""

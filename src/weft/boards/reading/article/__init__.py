"""Reads the metadata of an article page."""

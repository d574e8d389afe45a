"""Reads pages."""

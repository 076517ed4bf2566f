"""Screens of a trend, built from its document."""

"""Screens of a comparison of two models, built from its document."""

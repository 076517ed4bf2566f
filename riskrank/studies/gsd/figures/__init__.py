"""Figures of ``gsd`` documents."""

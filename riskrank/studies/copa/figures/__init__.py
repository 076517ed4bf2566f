"""Figures of ``copa`` documents."""

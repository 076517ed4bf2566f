"""Figures of ``rank`` documents."""

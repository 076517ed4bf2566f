"""Exports of harnesses: one file a harness, and what their readers share."""

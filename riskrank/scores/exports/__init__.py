"""Readers for the exports of evaluation harnesses, and the helpers they share."""

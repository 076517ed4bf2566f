"""Tests of dominance as rows and in words."""

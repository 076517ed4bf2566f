"""Readers: one file a format of score tables, or a harness whose exports become one."""

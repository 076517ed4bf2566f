"""Commands that need steps of their own, one module per command."""

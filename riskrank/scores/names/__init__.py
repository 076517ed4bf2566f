"""What names of columns and metrics say: roles, bookkeeping, directions."""

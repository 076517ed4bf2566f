"""What samples say of claims: one maker a kind of evidence."""

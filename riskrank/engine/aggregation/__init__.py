"""Exact rank aggregation (Borda, footrule, Pearson, Kemeny) and the agreement of rankings."""

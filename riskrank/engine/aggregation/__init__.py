"""One ranking from many, exactly: Borda, footrule, Pearson, Kemeny; and how far rankings agree."""

"""First- and second-order stochastic dominance: violation ratios, their errors, tests and rankings."""

"""Power of tests as a function of sample size, and the sample size required for a target power."""

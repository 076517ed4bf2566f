"""Evidence for claims; each module implements one kind of estimator."""

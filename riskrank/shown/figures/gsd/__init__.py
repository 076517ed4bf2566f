"""Pictures of generalized stochastic dominance."""

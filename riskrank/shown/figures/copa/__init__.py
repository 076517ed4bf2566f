"""Pictures of choices by COPA."""

"""The study behind ``mrm``: mean-risk models."""

"""Mean-risk models as rows and in words."""

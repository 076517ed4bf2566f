"""Mean-risk models: the study of ``mrm``."""

"""Studies behind ``power``: required sample sizes."""

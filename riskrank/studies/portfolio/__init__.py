"""The study behind ``portfolio``: combined scores of several metrics."""

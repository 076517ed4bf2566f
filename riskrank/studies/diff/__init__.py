"""The study behind ``diff``: cases on which two models differ."""

"""Statistical methods: pure functions on NumPy arrays, without input or output, that return dataclasses."""

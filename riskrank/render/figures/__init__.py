"""Pictures: what an engine found, as arrays, and as a Matplotlib figure drawn from them."""

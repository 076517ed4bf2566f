"""Pictures: common style, building blocks, and plots that several studies share."""

"""Pictures: common style, building blocks, and plots shared by several studies."""

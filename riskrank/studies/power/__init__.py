"""How many samples a comparison needs: the room of ``power``."""

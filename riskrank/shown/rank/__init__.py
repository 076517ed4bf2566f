"""A ranking: the first screen that answers the question, and all the rest for who asks."""

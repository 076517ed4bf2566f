"""A suite task by task: what a study says of its tasks beside what it says of them all together."""

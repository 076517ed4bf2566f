"""A judge whose scores people's correct: the chapter that studies share."""

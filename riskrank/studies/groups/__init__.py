"""The same study of every group of samples: the chapter that studies share."""

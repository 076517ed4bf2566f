"""Results on judge scores calibrated on human labels, used by several studies."""

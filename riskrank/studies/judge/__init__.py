"""Judge scores calibrated on human labels: results that several studies share."""

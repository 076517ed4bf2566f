"""Groups of samples: results that several studies share."""

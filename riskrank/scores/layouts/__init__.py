"""What kind of table this is: the reading that explains a file, by its content as much as by its names."""

"""Two models case by case: counts of changes, and tests of single cases."""

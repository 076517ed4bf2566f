"""Terminal output and JUnit report of ``gate``, built from its document."""

"""The parts of RESULTS.md: each file turns the records of its benchmarks into words, tables and one picture."""

"""From a table to a decision."""

"""Ways to find a tree."""

"""Questions to a tree: what matters, why this case, what would change it."""

"""Loss and gradient of a tree over rows, compiled by numba."""

"""Loss and gradient of a tree over rows, compiled; needs numba."""

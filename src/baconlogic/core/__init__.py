"""What a decision is: truths, criteria, gates, trees, files. Needs numpy alone."""

__version__ = "0.1.0"

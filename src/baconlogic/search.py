"""Ways to find a tree: the public names of `learn.search`."""

from baconlogic.learn.search import Additive, Growth, NotAccepted, Peel, Sinkhorn

__all__ = ["Additive", "Growth", "NotAccepted", "Peel", "Sinkhorn"]

"""Ways to find a tree: the public names of `learn.search`."""

from baconlogic.learn.search import Additive, Cards, Growth, NotAccepted, Peel, Sinkhorn

__all__ = ["Additive", "Cards", "Growth", "NotAccepted", "Peel", "Sinkhorn"]

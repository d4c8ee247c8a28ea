"""Learn when a tumour is malignant: a small tree, judged on patients it has not seen.

Run it with `make demo`; the first run compiles the kernel, which takes some seconds more.
"""

from __future__ import annotations

import time

from sklearn.model_selection import train_test_split

from baconlogic import BaconClassifier, datasets


def main() -> None:
    """Learn from two thirds of the patients and judge by the rest."""
    data = datasets.breast_cancer()
    patients = data.frame().drop(columns="target")
    seen, unseen, known, hidden = train_test_split(patients, data.y, test_size=1 / 3, random_state=0, stratify=data.y)
    print(f"Learning when a tumour is malignant, from {len(seen)} patients and {patients.shape[1]} measurements ...")
    started = time.perf_counter()
    clf = BaconClassifier(random_state=0, n_jobs=2).fit(seen, known)
    print(f"done in {time.perf_counter() - started:.1f} s. Malignant means:\n")
    print(clf.tree_)
    print(f"\nIt is called malignant where this is more than {clf.threshold_:.2f} true.")
    right = clf.score(unseen, hidden)
    print(f"Right on {right:.1%} of {len(unseen)} patients not seen before.\n")
    print("leaves  held-out log-loss  accuracy   (measured inside fit, which chose the size by it)")
    for entry in clf.path_:
        mark = "  <-- chosen" if entry.tree == clf.tree_ else ""
        print(f"{entry.leaves:6}  {entry.loss:8.3f} +- {entry.error:.3f}  {entry.accuracy:8.1%}{mark}")


if __name__ == "__main__":
    main()

"""Write RESULTS.md and its pictures from what the benchmarks measured; no figure in it is typed by hand.

To run it:

    python benchmarks/write.py                                   benchmarks/results/*.json -> benchmarks/RESULTS.md
    python benchmarks/write.py --results FOLDER --page FILE      from and to other places
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path

import record
from parts import before_after, exports, reading, recovery, speed, stability, versions_speed
from parts.markdown import Records

PAGE = record.HERE / "RESULTS.md"
README = record.HERE.parent / "README.md"
OPENING, CLOSING = "<!-- written by benchmarks/write.py -->", "<!-- until here -->"

INTRO = """# Measured results

`make bench` installs the peers into an environment of their own, runs the benchmarks (of the suite, what
`results/suite.csv` lacks) and writes this page from what they measured (`benchmarks/results/`); no figure here is
typed by hand. Single times vary with the machine and what else it does, so compare within one table: each comes from
the command, or commands, above it. Times are CPU times unless said otherwise, and the shortest of many runs for what
takes less than a second. Part 1 but for this library and FasterRisk, parts 2, 3 and 5, and noise in part 4, were
measured with version 0.1.0, whose default were deep trees; what each form gives when asked for (part 6) and the other
data of part 1 before the cards of today. [NOTES.md](NOTES.md) has what was tried and did not pay."""


def head(records: Records) -> str:
    """Return where all of this was measured, and with what."""
    machines = [each["machine"] for each in records.values()]
    lines = list(
        dict.fromkeys(f"{m['processor']}, {m['cores']} cores, {m['system']}, Python {m['python']}" for m in machines)
    )
    packages: dict[str, list[str]] = {}
    for each in records.values():
        for name, version in each["versions"].items():
            if version not in packages.setdefault(name, []):
                packages[name].append(version)
    if not machines:
        return ""
    loads = [m["load"] for m in machines if m["load"] is not None]
    versions = ", ".join(f"{name} {' and '.join(found)}" for name, found in packages.items())
    busy = f" Load average meanwhile: {min(loads):.1f} to {max(loads):.1f}." if loads else ""
    return f"Machine: {'; '.join(lines)}.{busy}\n\nVersions: {versions}."


def accuracy(folder: Path, images: Path | None) -> str:
    """Return part 1, which `ranks` writes from the scores of the suite."""
    if not (folder / "suite.csv").exists():
        return "Not measured. To measure it:\n\n    python benchmarks/suite.py"
    import ranks

    if images is not None:
        ranks.draw(images, folder / "suite.csv")
    return str(ranks.section(folder / "suite.csv"))


def page(folder: Path, images: Path, link: str) -> str:
    """Return the whole page; pictures go into `images`, which the page calls `link`."""
    records = record.read(folder)
    drawing = importlib.util.find_spec("matplotlib") is not None
    if not drawing:
        print("no pictures: matplotlib is not installed")
    parts: list[tuple[str, str, str, Callable[[Records, Path], bool]]] = [
        ("2. Speed", "speed", speed.section(records), speed.draw),
        ("3. Recovery of Boolean logic", "recovery", recovery.section(records), recovery.draw),
        ("4. Stability", "stability", stability.section(records), stability.draw),
        ("5. Exports", "exports", exports.section(records), exports.draw),
    ]
    said = [INTRO, head(records), f"## 1. Accuracy on the suite\n\n{accuracy(folder, images if drawing else None)}"]
    for title, name, text, draw in parts:
        drawn = drawing and draw(records, images / f"{name}.png")
        picture = f"\n\n![{title[3:]}]({link}/{name}.png)" if drawn else ""
        said.append(f"## {title}{picture}\n\n{text}")
    said += [
        f"## 6. From version to version\n\n{before_after.section(records)}",
        f"## 7. Reading\n\n{reading.section(records)}",
        f"## 8. Time of a fit, from version to version\n\n{versions_speed.section(records)}",
    ]
    return "\n\n".join(each for each in said if each) + "\n"


def put_in_readme(folder: Path, readme: Path) -> None:
    """Replace the table of the suite in the README."""
    import ranks

    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(OPENING)
    _, after = rest.split(CLOSING)
    table = ranks.markdown(ranks.short_table(ranks.Scores(ranks.read(folder / "suite.csv"))))
    readme.write_text(f"{before}{OPENING}\n{table}\n{CLOSING}{after}", encoding="utf-8")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=record.RESULTS, help="folder of the figures")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write; pictures go into images beside it")
    options = parser.parse_args(argv)
    text = page(options.results, options.page.parent / "images", "images")
    options.page.write_text(text, encoding="utf-8")
    if options.page == PAGE and (options.results / "suite.csv").exists():
        put_in_readme(options.results, README)
    print(f"written to {options.page.name}")


if __name__ == "__main__":
    main()

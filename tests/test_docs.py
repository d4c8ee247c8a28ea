"""The documentation: pages print what they say, commands run, links lead somewhere, examples run, the site builds."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import INSTALLED, run, table, write_csv

import baconlogic

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "RESULTS.md", *PAGES]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# lines for the reader, not run here; experiments have tests of their own
SET_UP = ("pip install ", "make ", "cd ", "python -m venv ", "python -m experiments ")


def blocks(page, *kinds):
    return [text for kind, text in FENCE.findall(page.read_text(encoding="utf-8")) if kind in kinds]


def names(paths):
    return [path.name for path in paths]


# Pages


def copied(tmp_path):
    return Path(shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("examples", "api", "_*")))


WITH_EXAMPLES = names(page for page in PAGES if blocks(page, "python"))
LONG = {"explainability.md", "explain.md"}  # shap and lime; scenarios and alternatives


@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] * (p in LONG)) for p in WITH_EXAMPLES])
def test_the_page_prints_what_it_says(page, tmp_path):
    docs = copied(tmp_path)
    command = [sys.executable, str(docs / "run.py"), "--check", str(docs / page)]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "MPLBACKEND": "Agg"}
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", env=environment)
    assert done.returncode == 0, done.stderr


# Commands


def commands(page):
    """Give each command line of a page with what it is said to print: None in a block that shows commands alone."""
    for kind, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, printed = part.partition("\n")
                yield line, printed
        elif kind in ("sh", "bash", "shell"):
            for line in text.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith(("#", *SET_UP)):
                    yield line, None


def run_line(line, folder):
    """Run a command line in this process, or, where it has a pipe or the like, in a shell."""
    words = shlex.split(line, comments=True)
    assert words[0] == "baconlogic", f"neither a command nor a line of set-up: {line}"
    if not {"|", ">", "<", "&&", ";"} & set(words):
        return run(*words[1:], folder=folder)
    environment = os.environ | {"PATH": f"{INSTALLED.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, encoding="utf-8", env=environment)  # noqa: S607
    return done.returncode, done.stdout, done.stderr


def same(said, printed):
    """Whether two texts agree: word by word, numbers to nine digits, but for how long something took."""
    number = r"(\d+\.\d+(?:e-?\d+)?)"
    said, printed = (re.split(number, re.sub(r"found in [\d.]+ s", "", text)) for text in (said, printed))
    return said[::2] == printed[::2] and list(map(float, said[1::2])) == pytest.approx(
        list(map(float, printed[1::2])), rel=1e-9, abs=1e-12
    )


def agrees(said, printed):
    """Whether a page says what was printed; lines after `...` were left out."""
    if not printed.endswith("\n...\n"):
        return same(said, printed)
    lines = printed.splitlines(keepends=True)[:-1]
    return same("".join(said.splitlines(keepends=True)[: len(lines)]), "".join(lines))


WITH_COMMANDS = names(page for page in [ROOT / "README.md", *PAGES] if list(commands(page)))


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_the_commands_of_the_page_run(page, tmp_path):
    path = ROOT / page if page == "README.md" else DOCS / page
    if page == "README.md":
        write_csv(tmp_path / "data.csv", table())  # the reader's own
    answers = {}
    for line, printed in commands(path):
        if line not in answers:
            answers[line] = run_line(line, tmp_path)
        code, out, err = answers[line]
        assert code == 0, f"{line}\n{err}"
        assert printed is None or agrees(out, printed) or agrees(out + err, printed), f"{line}\n{out}{err}"


def test_a_page_that_says_something_else_is_noticed():
    assert agrees("accuracy 0.9531, found in 1.3 s\nmore\n", "accuracy 0.9531, found in 7.9 s\n...\n")
    assert not agrees("accuracy 0.9531\n", "accuracy 0.9532\n")
    assert not agrees("two trees\n", "ten trees\n")


# Links

PROSE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(<?([^)<>\s]+)>?(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?)\s*#*$", re.MULTILINE)


def links(page):
    text = PROSE.sub("", page.read_text(encoding="utf-8").replace("[`", "[").replace("`]", "]"))
    return [first or second for first, second in LINK.findall(text)]


def anchors(page):
    """The anchors of the headings of a page, as a repository page makes them."""
    found = []
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return found


def target_of(page, link):
    """The file that a link leads to; pages of the site that are made from others stand for them."""
    path = (page.parent / link).resolve()
    if path == (DOCS / "examples" / "index.rst").resolve():  # made by the gallery
        return ROOT / "examples" / "GALLERY_HEADER.rst"
    return path


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in TEXTS])
def test_every_relative_link_leads_somewhere(page):
    path, broken = ROOT / page, []
    for link in links(path):
        if re.match(r"[a-z]+:", link):
            continue
        where, _, anchor = link.partition("#")
        target = target_of(path, where) if where else path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_links_and_anchors_are_read_as_a_repository_page_does(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `b`, c\n\n[x](y.md#z), `[no](none)`, ![p](i/p.png)\n\n```text\n# [n](n)\n```\n\n## A b, c\n")
    assert links(page) == ["y.md#z", "i/p.png"]
    assert anchors(page) == ["a-b-c", "a-b-c-1"]


# Examples


@pytest.mark.parametrize("example", names(EXAMPLES))
def test_the_example_runs(example, monkeypatch, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: pyplot.close("all"))
    runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    assert not list(tmp_path.iterdir())


# The site


def public_names():
    """Every public name with the module it is asked of."""
    for name in baconlogic.__all__:
        thing = getattr(baconlogic, name)
        if not hasattr(thing, "__path__") and type(thing) is not type(sys):
            yield f"baconlogic.{name}"
        else:
            yield from (f"baconlogic.{name}.{each}" for each in getattr(thing, "__all__", ()))


def test_the_api_pages_have_every_public_name():
    found = set()
    for page in (DOCS / "api").glob("*.rst"):
        text = page.read_text(encoding="utf-8")
        module = re.search(r"^\.\. currentmodule:: (\S+)", text, re.MULTILINE)[1]
        found |= {f"{module}.{name}" for name in re.findall(r"^\.\. auto(?!module|summary)\w+:: (\S+)", text, re.M)}
    assert set(public_names()) <= found


def test_the_site_builds_without_warnings_and_asks_nothing_of_other_hosts(tmp_path):
    """Without running the examples, which have tests of their own; `make docs` builds all of it."""
    for entry in ROOT.iterdir():
        if entry.name not in {"docs", "build", ".git"} and not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    docs = shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("examples", "*.html"))
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-D", "plot_gallery=0"]
    done = subprocess.run([*command, str(docs), str(site)], check=False, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    loads = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"https?:[^\"]*|<link\b[^>]*\bhref=\"https?:[^\"]*")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    assert not [found for page in pages for found in loads.findall(page.read_text(encoding="utf-8"))]

"""The documentation site: `make docs` builds it into build/docs, without the network."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import warnings
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

import baconlogic

HERE = Path(__file__).parent

project = "baconlogic"
project_copyright = "The baconlogic developers"
author = "The baconlogic developers"
version = release = baconlogic.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples/*.ipynb", "examples/*.py"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions
default_role = "py:obj"  # `name` in a docstring is code, and a link where there is such a name

# Pages: headings have the anchors that the repository page gives them.
myst_heading_anchors = 4

# API: signatures as they are written, one parameter a line where they are long.
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autosummary_generate = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = f"baconlogic {release}"
html_static_path = ["_static"]
html_css_files = ["calm.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["sidebar-nav-bs"]}
html_sidebars |= {page: [] for page in ("index", "getting_started", "idea", "reproduce", "benchmarks", "faq")}


# Examples: each also runs by itself.
class InOrder:
    """The order of the examples: those not listed come last."""

    names = ("job_offers", "learn_and_read", "reasons", "missing_values", "costs", "edit_log", "export", "band")

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """Return the place of an example."""
        name = Path(file).stem.removeprefix("plot_")
        return self.names.index(name) if name in self.names else len(self.names)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": InOrder,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,  # how long they took differs from build to build
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": "True",
}
warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")

# Pages that stand outside this folder and are included by one in it.
INCLUDED = {
    "../benchmarks/RESULTS.md": "benchmarks.md",
    "../benchmarks/NOTES.md": "benchmark_notes.md",
    "../CONTRIBUTING.md": "contributing.md",
}
RELATIVE = re.compile(r"(?<!!)\[([^\]\n]+)\]\((?!https?:|mailto:|/)([^)#\s]+)(#[^)\s]*)?\)")
FIELD = re.compile(r"    (\w+): [^#]*(?:#\s*(?!type:|noqa)(.*))?$")
OUTSIDE = re.compile(r"(?<!!)\[([^\]\n]+)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")


def inside(link: re.Match[str]) -> str:
    """Return a link out of this folder as one the site has: to the page that includes the file, or to the file."""
    text, target, anchor = link[1], link[2], link[3] or ""
    if target in INCLUDED:
        return f"[{text}]({INCLUDED[target]}{anchor})"
    return text if (HERE / target).is_dir() else link[0]


def mend_links(_app: object, _page: str, content: list[str]) -> None:
    """Make links out of this folder links that the site has."""
    content[0] = OUTSIDE.sub(inside, content[0])


def mend_included_links(app: object, _path: Path, page: str, content: list[str]) -> None:
    """Make the links of a file that stands outside this folder relative to it, and links that the site has."""
    folder = (HERE / next(source for source, made in INCLUDED.items() if made == f"{page}.md")).parent

    def seen_from_here(link: re.Match[str]) -> str:
        return f"[{link[1]}]({os.path.relpath(folder / link[2], HERE)}{link[3] or ''})"

    content[0] = RELATIVE.sub(seen_from_here, content[0])
    mend_links(app, page, content)


def mark_columns(_app: object, what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Keep the aligned columns of a module's docstring as they are typed."""
    if what == "module":
        for i in range(len(lines) - 1, 0, -1):
            if lines[i].startswith("    ") and not lines[i - 1].strip():
                lines[i:i] = [".. code-block:: text", ""]


def list_fields(_app: object, what: str, _name: str, thing: type, _options: object, lines: list[str]) -> None:
    """Say below a dataclass what its fields are: the comments that stand beside them."""
    if what == "class" and dataclasses.is_dataclass(thing):
        source = {found[1]: found[2] for found in map(FIELD.match, inspect.getsource(thing).splitlines()) if found}
        said = [
            f"- ``{each.name}``: {source[each.name]}" for each in dataclasses.fields(thing) if source.get(each.name)
        ]
        lines += ["", *said, ""] if said else []


def unlink(app: object, document: nodes.document) -> None:
    """Take away links that would lead to another class of the same name: the changes of a counterfactual."""
    if app.env.docname == "api/explain":  # type: ignore[attr-defined]
        for link in [each for each in document.findall(pending_xref) if each["reftarget"] == "Change"]:
            link.replace_self(nodes.Text("Change"))


TABLES = {
    "baconlogic.gcd.AGGREGATORS": "The aggregators by name.",
    "baconlogic.gcd.LEVELS": "The 23 levels by code.",
    "baconlogic.thresholds.SCENARIOS": "The scenarios by name.",
}


def tell_tables(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:  # noqa: ARG001
    """Say what a table of public names holds: where it stands only by its name, its text would be that of any dict."""
    if name in TABLES:
        lines[:] = [TABLES[name]]


def setup(app: object) -> None:
    """Say what happens when a page or a docstring is read."""
    app.connect("source-read", mend_links)  # type: ignore[attr-defined]
    app.connect("include-read", mend_included_links)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", mark_columns)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", tell_tables)  # type: ignore[attr-defined]
    app.connect("doctree-read", unlink)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", list_fields)  # type: ignore[attr-defined]

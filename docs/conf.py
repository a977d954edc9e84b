"""How Sphinx makes the site of these pages and of the docstrings: `make docs`."""

import affdsl

project = "affdsl"
author = "the affdsl authors"
version = release = affdsl.__version__
html_title = f"affdsl {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "docs.site.docstrings",
    "docs.site.reference",
    "docs.site.commands",
    "docs.site.links",
    "docs.site.diagrams",
    "docs.site.mlir",
    "docs.site.outputs",
    "docs.site.search",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site/**"]
templates_path: list[str] = []

# Pages are read on their own, too: plain Markdown, with links to headings as they work there.
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("Carried", "Operand", "Size")}
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
modindex_common_prefix = ["affdsl."]

html_theme = "furo"
html_logo = html_favicon = "site/static/logo.svg"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5fa5", "color-brand-content": "#0b5fa5"},
    "dark_css_variables": {"color-brand-primary": "#7cb7ec", "color-brand-content": "#7cb7ec"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

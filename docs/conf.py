"""How the documentation is built."""

import sys
from importlib import metadata, resources
from pathlib import Path

from sphinx.application import Sphinx

from dfopt import evaluate, read_instance, solve
from dfopt.plot import plot_schedule, save_picture
from dfopt_models import plot as model_plot
from dfopt_models.batching import BATCHING
from dfopt_models.contention import CONTENTION
from dfopt_models.counters import COUNTERS
from dfopt_models.queueing import QUEUEING
from dfopt_models.response_time import RESPONSE_TIME

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import hackbench  # noqa: E402

project = "dfopt"
author = "The dfopt authors"
copyright = f"{author}; Apache-2.0"
release = version = metadata.version("dfopt")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "command_help",
    "mathml",
    "model_formula",
    "parameter_lists",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

html_theme = "furo"
html_title = f"dfopt {release}"
html_static_path = ["_static"]
html_css_files = ["math.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
# Two packages have a class Comparison, and signatures name either by its short name.
suppress_warnings = ["ref.python"]
add_module_names = False
maximum_signature_line_length = 80

PICTURES = DOCS / "_build" / "pictures"
EXAMPLES = DOCS / "examples"

# The schemas shown are those of the installed package, wherever that is.
SCHEMAS = DOCS / "_build" / "schemas"
SCHEMAS.mkdir(parents=True, exist_ok=True)
for schema in resources.files("dfopt").joinpath("files", "schemas").iterdir():
    if schema.name.endswith(".json"):
        SCHEMAS.joinpath(schema.name).write_text(schema.read_text("utf-8"), "utf-8")
for parameters in resources.files("dfopt_models").joinpath("parameters").iterdir():
    SCHEMAS.joinpath(parameters.name).write_text(parameters.read_text("utf-8"), "utf-8")


def draw_pictures(app: Sphinx) -> None:
    """Draw the pictures that pages show anew."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    shop = read_instance(EXAMPLES / "shop.json")
    save_picture(plot_schedule(shop, solve(shop).schedule), PICTURES / "shop.svg")
    for name in ("constant", "own", "pairs", "makespan"):
        families = read_instance(EXAMPLES / f"families-{name}.json")
        picture = PICTURES / f"families-{name}.svg"
        save_picture(plot_schedule(families, solve(families).schedule), picture)
    worked = read_instance(EXAMPLES / "worked-example.json")
    for name, orders in {
        "cpu-affinity": [["v0", "v1", "v2"], ["v3", "v4"]],
        "data-affinity": [["v0", "v2", "v3"], ["v1", "v4"]],
    }.items():
        save_picture(plot_schedule(worked, evaluate(worked, orders)), PICTURES / f"{name}.svg")
    save_picture(hackbench.foresight(["4", "4-batch"]), PICTURES / "foresight.svg")

    mix_5 = RESPONSE_TIME.read("mix-5")
    save_picture(model_plot.plot_crossovers([mix_5]).axes[0], PICTURES / "crossover.svg")
    mixes = [RESPONSE_TIME.read(path) for path in sorted(EXAMPLES.glob("simulated/mix-*.toml"))]
    save_picture(model_plot.plot_crossovers(mixes).axes[0], PICTURES / "crossover-mixes.svg")
    save_picture(
        model_plot.plot_crossover_planes([mix_5]).axes[0], PICTURES / "crossover-plane.svg"
    )
    for name, figure in {
        "contention": model_plot.plot_contention(CONTENTION.read("sohn-kim")),
        "batching": model_plot.plot_batching(BATCHING.read("debattista")),
        "queueing": model_plot.plot_queueing(QUEUEING.read("short-jobs")).figure,
    }.items():
        save_picture(figure.axes[0], PICTURES / f"{name}.svg")
    counters = model_plot.plot_counters(COUNTERS.read("ziemba"))
    save_picture(counters, PICTURES / "counters.svg")


def setup(app: Sphinx) -> None:
    """Let pictures be drawn before pages are read."""
    app.connect("builder-inited", draw_pictures)

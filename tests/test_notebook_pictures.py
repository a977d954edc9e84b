"""What a cell shows of kernels, schedules, pictures and graphs by themselves: HTML and drawings, quickly, always."""

import importlib
import pkgutil
import re
import xml.etree.ElementTree as ET
from html import unescape

from IPython.core.formatters import DisplayFormatter

import affdsl as af
import examples
from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from affdsl.shown import preformatted
from benchmarks.polybench.suite import SUITE
from examples.floyd_warshall import floyd_warshall
from examples.gemm import gemm

M, N = af.symbols("M N")


@af.kernel
def shift(a: af.f64[N], by: af.f64 = 2.0):
    with af.for_(2, N) as i:
        a[i] = a[i - 2] * by


@af.kernel
def smooth(A: af.f64[M, N]):
    af.assume(N >= 10)
    with af.for_(1, M) as i, af.for_(N) as j:
        A[i, j] += A[i - 1, j]


def texts(html):
    """The words of a cell."""
    return [unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", html, re.S)]


def drawing(html):
    """The words of its picture, which is well formed; None if there is none."""
    found = re.search(r"<svg.*</svg>", html, re.S)
    return (
        None
        if found is None
        else ["".join(x.itertext()) for x in ET.fromstring(found[0]).iter() if x.tag.endswith("text")]
    )


def test_a_kernel_shows_how_it_is_called_its_loops_and_their_iterations():
    html = smooth._repr_html_()
    signature, loops = texts(html)
    assert signature == "affdsl kernel smooth(A: f64[M, N])"
    assert loops.split("\n")[0].startswith("i = 1 to M  ")
    assert loops.split("\n")[1].startswith("  j = 0 to N  tests/test_notebook_pictures.py:")
    assert "iterations of i and j in @smooth, M = 10, N = 10" in drawing(html)


def test_a_loop_alone_is_a_row():
    html = shift._repr_html_()
    words = drawing(html)
    assert "iterations of call and i in @shift, N = 6" in words
    assert "flow: reads what was written" in words
    assert "number and colour: the iteration of i, counted from 0" in words
    assert texts(html)[0] == "affdsl kernel shift(a: f64[N], by: f64 = 2.0)"


def test_three_loops_show_the_outer_two():
    words = drawing(floyd_warshall._repr_html_())
    assert any("iterations of k and i" in word for word in words)
    assert "a point stands for the whole of j" in words


def test_a_schedule_shows_its_steps_and_the_loops_that_they_made():
    s = af.Schedule(smooth).interchange("i", "j")
    html = s._repr_html_()
    steps, loops = texts(html)
    assert steps == str(s)
    assert loops.startswith("j = 0 to N")
    assert "iterations of j and i in @smooth, M = 10, N = 10" in drawing(html)


def test_what_is_large_has_no_picture():
    assert drawing(af.Schedule(gemm).tile(("k",), 4).unroll("j#2", 8)._repr_html_()) is None
    space = smooth.picture("i", "j", {"M": 30, "N": 20})
    assert space._repr_svg_() is None
    assert repr(space) == "<iterations of i and j: 580 points, 560 arrows>"
    assert smooth.picture("i", "j", {"M": 4, "N": 4})._repr_svg_().startswith("<svg")
    assert gemm.graph()._repr_svg_().startswith("<svg")


def test_text_is_no_markup():
    assert "<b>" not in preformatted("a <b> & c")
    assert texts(preformatted("a <b> & c")) == ["a <b> & c"]


def test_a_method_without_an_object_has_its_words():
    class Thing:
        @af.kernel
        def run(self, x: af.f64[N]):
            with af.for_(N) as i:
                x[i] = 0.0

    assert vars(Thing)["run"]._repr_html_() is None
    assert drawing(Thing().run._repr_html_()) is not None


def test_every_example_and_all_of_polybench_are_shown():
    modules = (importlib.import_module(f"examples.{m.name}") for m in pkgutil.iter_modules(examples.__path__))
    kernels = [k for module in modules for k in vars(module).values() if isinstance(k, af.Kernel)]
    pictures = 0
    for kernel in (*kernels, *(benchmark.kernel for benchmark in SUITE)):
        html = kernel._repr_html_()
        loops = [op for op in walk(kernel.func) if isinstance(op, affine.For | affine.Parallel | scf.For)]
        assert len(texts(html)) == 1 + bool(loops)
        pictures += drawing(html) is not None
        assert len(html) < 120_000
    assert pictures > 15


def test_ipython_takes_them():
    found, _ = DisplayFormatter().format(smooth)
    assert found["text/plain"] == repr(smooth)
    assert found["text/html"] == smooth._repr_html_()
    found, _ = DisplayFormatter().format(smooth.picture("i", "j", {"M": 4, "N": 4}))
    assert found["image/svg+xml"].startswith("<svg")

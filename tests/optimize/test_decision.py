"""What `optimize()` has decided is taken from the cache the second time, and is what it was; or it is decided anew."""

import json
import os
import pickle
import runpy
import subprocess
import sys
import textwrap
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.cache import Cache, default_cache
from affdsl.errors import InternalError
from affdsl.ir.traverse import walk
from affdsl.optimize import decision, optimizer, recipes
from affdsl.optimize.decision import KIND
from affdsl.passes.validation import pipeline
from tests.ir.test_plain import difference

ROOT = Path(__file__).parents[2]
M, N, K = af.symbols("M N K")


def product():
    @af.kernel
    def f(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]

    return f


def sums():
    @af.kernel
    def f(A: af.f64[M, N], x: af.f64[N], y: af.f64[M]):
        with af.for_(M) as i, af.for_(N) as j:
            y[i] += A[i, j] * x[j]

    return f


def sweeps():
    @af.kernel
    def f(steps: af.index, A: af.f64[N, N], B: af.f64[N, N]):
        with af.for_(steps):
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                B[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) / 3
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                A[i, j] = (B[i - 1, j] + B[i + 1, j] + B[i, j - 1] + B[i, j + 1]) / 3

    return f


def growth(factor=2.0, name="x"):
    """Cheap to optimize; the arguments may be called something else."""
    text = f"""
        @af.kernel
        def f({name}: af.f64[N], y: af.f64[N]):
            with af.for_(N) as i:
                y[i] += af.sqrt({factor} * {name}[i])
    """
    names = {"af": af, "N": N}
    exec(compile(textwrap.dedent(text), str(ROOT / "growth.py"), "exec"), names)
    return names["f"]


def calling():
    """Two kernels of one name that are called, an array that is returned, a place that data gives."""

    @af.kernel
    def g(x: af.f32[N]):
        with af.for_(N) as i:
            x[i] = x[i] * 2.0 if N is not None else 0.0

    first = g

    @af.kernel
    def g(x: af.f32[N], place: af.i32[N]):
        with af.for_(N) as i:
            x[place[i]] += 1.0

    @af.kernel
    def f(x: af.f32[N], place: af.i32[N]):
        first(x)
        g(x, place)
        sums = af.alloc(af.f32[N])
        with af.for_(N) as i:
            sums[i] = x[i]
            with af.for_(i) as j:
                sums[i] += x[j]
        return sums

    return f


def loopless():
    @af.kernel
    def f(x: af.f64[4]):
        x[0] = 1.0

    return f


def optimized(kernel, *, target="avx2", threads=1, **options):
    """Always at this line, and under this name."""
    fast = kernel.optimize(target, threads=threads, **options)
    return fast


def said(kernel):
    """All that is said of a kernel."""
    s = kernel.schedule
    refused = [(str(step), step.error) for step in s.refusals]
    words = kernel.explain()
    return str(kernel), kernel.c(), words.notes, words, str(s), s.explain(), [*map(str, s.steps)], refused


@pytest.fixture(autouse=True)
def remembers(monkeypatch, tmp_path):
    """A cache that remembers nothing yet."""
    monkeypatch.setenv("AFFDSL_DECISIONS", "1")
    monkeypatch.setenv("AFFDSL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def decided(monkeypatch):
    """What was decided, and not remembered, in order."""
    found = []
    real = decision._Asked.remember

    def counted(asked, made):
        found.append(made)
        real(asked, made)

    monkeypatch.setattr(decision._Asked, "remember", counted)
    return found


# The same -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("define", "options"),
    [
        (sums, {"threads": 2, "contract": True, "reassociate": True}),
        (sweeps, {"target": "baseline", "reciprocal": True}),
        (growth, {"approximate": True, "target": "avx512"}),
        (calling, {"threads": 2, "reassociate": True}),
        (loopless, {}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_it_is_what_it_was(define, options, decided):
    first, second = (optimized(define(), **options) for _ in range(2))
    assert len(decided) == 1
    assert difference(first.module, second.module) == ""
    assert said(second) == said(first)
    assert difference(first.schedule.module, second.schedule.module) == ""
    assert second.schedule is second.schedule


def test_the_second_process_imports_nothing_that_decides(tmp_path, monkeypatch):
    """It takes what it takes to define the kernel: isl and the recipes are not loaded, only where somebody asks."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, affdsl as af\n"
        "N = af.symbols('N')\n"
        "@af.kernel\n"
        "def f(A: af.f64[N, N], x: af.f64[N]):\n"
        "    with af.for_(N) as i, af.for_(N) as j:\n"
        "        x[i] += A[i, j]\n"
        "fast = f.optimize('avx2', threads=1)\n"
        "loaded = {*sys.modules}\n"
        "said = [str(fast), fast.c(), fast.explain(), str(fast.schedule), fast.schedule.explain()]\n"
        "if __name__ == '__main__':\n"
        "    print(*sorted(each for each in loaded if each.startswith(('affdsl.', 'islpy', 'networkx'))), *said)\n"
    )
    first = runpy.run_path(str(script), run_name="__main__")["said"]
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env=os.environ)
    loaded, line, rest = done.stdout.partition("affdsl.signatures")
    assert line
    assert not [each for each in loaded.split() if each.startswith(("islpy", "networkx", "affdsl.schedule"))]
    assert "affdsl.optimize.optimizer" not in loaded
    assert rest.partition(" ")[2] == " ".join(first) + "\n"


def test_it_is_called_pickled_specialized_and_shipped_as_any_other(decided, tmp_path):
    (first, second), x = (optimized(growth(), target="native") for _ in range(2)), np.linspace(-1, 1, 1001)
    made = [first, second, pickle.loads(pickle.dumps(second)), second.specialize(N=1001)]  # noqa: S301 - our own
    found = []
    for kernel in made:
        y = np.zeros(1001)
        kernel(x, y)
        found.append(y.tobytes())
    assert found == [found[0]] * 4
    assert len(decided) == 1
    assert made[3].c() == first.specialize(N=1001).c()
    assert str(made[3].schedule) == str(first.schedule)
    assert made[3].explain() == first.explain()
    texts = [[path.read_text() for path in kernel.save_c(tmp_path)] for kernel in (first, second)]
    assert texts[0] == texts[1]


def test_what_was_optimized_before_may_be_optimized_again(decided):
    first, second = (optimized(optimized(growth()), threads=2) for _ in range(2))
    assert len(decided) == 2
    assert said(second) == said(first)


def test_an_optimized_kernel_says_where_it_was_optimized_now(decided):
    """Steps that were refused say so: what is remembered is another line's."""
    first = optimized(growth())
    fast = growth().optimize("avx2", threads=1)
    assert len(decided) == 1
    steps = [*first.schedule.refusals, *fast.schedule.refusals]
    assert [step.error.partition(": ")[0] for step in steps] == [str(step.location) for step in steps]
    assert len({step.location.line for step in steps}) == 2
    assert {step.location.line for step in fast.schedule.steps} == {steps[-1].location.line}


def test_cells_of_a_notebook_have_other_files_in_each_process(decided):
    """A cell is called the same each time: what is remembered has the files of now."""
    text = "@af.kernel\ndef f(x: af.f64[N]):\n    with af.for_(N) as i:\n        x[i] = x[i] / 3\n"
    made = []
    for process in (17, 18):
        names = {"af": af, "N": N}
        exec(compile(text, f"/ipykernel_{process}/{7 * process}.py", "exec"), names)
        made.append(optimized(names["f"]))
    assert len(decided) == 1
    files = [{op.location.file for op in walk(each.func) if op.location is not None} for each in made]
    assert files == [{"/ipykernel_17/119.py"}, {"/ipykernel_18/126.py"}]
    assert said(made[0])[3:] == said(made[1])[3:]


def test_a_warning_comes_again(monkeypatch):
    def refused(s, *_):
        s.parallel("k")

    monkeypatch.setitem(recipes.FOR_LOOPS, "products", refused)
    for _ in range(2):
        with pytest.warns(af.RecipeWarning, match="since a step of this recipe was refused: cannot make k parallel"):
            optimized(product(), target="baseline")
        monkeypatch.setattr(optimizer, "decided", None)  # the second time nobody decides


# Decided anew ---------------------------------------------------------------------------------------------------------


def test_what_decides_is_part_of_the_question(decided, monkeypatch, tmp_path):
    """Each of these is decided for itself."""

    def changed(name, value):
        with monkeypatch.context() as changes:
            changes.setattr(decision, name, value)
            return optimized(growth())

    def elsewhere():
        with monkeypatch.context() as changes:
            changes.chdir(tmp_path)
            return optimized(growth())

    def otherwise():
        other = growth().optimize("avx2", threads=1)
        return other

    questions = [
        partial(optimized, growth()),
        partial(optimized, growth(), target="sse4.2"),
        partial(optimized, growth(), threads=2),
        *(partial(optimized, growth(), **{each: True}) for each in ("contract", "reassociate", "reciprocal")),
        partial(optimized, growth(), approximate=True),
        partial(optimized, growth(factor=3.0)),
        partial(optimized, growth(name="z")),
        partial(optimized, growth().specialize(N=100)),
        partial(optimized, growth().apply("canonicalize,affine-loop-normalize")),
        otherwise,
        partial(changed, "_version", lambda: "another"),
        partial(changed, "native_target", lambda: replace(af.native_target(), caches=(7,))),
        elsewhere,
    ]
    for number, ask in enumerate(questions, 1):
        ask()
        assert len(decided) == number, ask
    for ask in questions:
        ask()
        assert len(decided) == len(questions), ask


def test_an_argument_that_is_strided_is_another(decided):
    def scaled(kind):
        @af.kernel
        def f(x: kind, y: af.f64[N]):
            with af.for_(N) as i:
                y[i] = af.f64(x[i])

        return f

    kinds = af.f64[N], af.strided(af.f64[N]), af.f64[2 * N], af.i32[N]
    for number, kind in enumerate(kinds, 1):
        optimized(scaled(kind))
        assert len(decided) == number


def test_it_can_be_switched_off(decided, monkeypatch):
    """Then nothing is kept, and nothing that was kept is taken."""
    monkeypatch.setenv("AFFDSL_DECISIONS", "0")
    for _ in range(2):
        optimized(growth())
    assert not decided
    assert not [*default_cache().folder.glob(f"*.{KIND}")]
    monkeypatch.setenv("AFFDSL_DECISIONS", "1")
    optimized(growth())
    monkeypatch.setenv("AFFDSL_DECISIONS", "0")
    monkeypatch.setattr(optimizer, "decided", None)
    with pytest.raises(TypeError):  # it is asked, also for what was kept
        optimized(growth())
    monkeypatch.setenv("AFFDSL_DECISIONS", "no")
    with pytest.raises(ValueError, match="AFFDSL_DECISIONS is 'no'; set it to 0 or 1, or unset it"):
        optimized(growth())


# What is damaged, or foreign ------------------------------------------------------------------------------------------


def kept():
    """The file of the only decision."""
    (file,) = default_cache().folder.glob(f"*.{KIND}")
    return file


def test_a_file_that_is_cut_off_is_replaced(decided):
    first = optimized(growth())
    content = kept().read_bytes()
    kept().write_bytes(content[: len(content) // 2])
    with pytest.warns(UserWarning, match="is unusable"):
        second = optimized(growth())
    assert len(decided) == 2
    assert said(second) == said(first)
    assert kept().read_bytes() == content
    optimized(growth())
    assert len(decided) == 2


def test_what_is_no_decision_for_this_kernel_is_replaced_in_silence(decided, monkeypatch):
    """A file of which the hash is right may be somebody else's: each number and each text of it is looked at."""
    first, contents = optimized(growth()), []
    monkeypatch.setattr(Cache, "known", lambda *_: contents[-1])
    monkeypatch.setattr(Cache, "keep", lambda _, payload, *key: contents.append(payload))
    contents.append(None)
    optimized(growth())
    right = json.loads(contents[-1])
    contents.append(None)
    optimized(loopless())
    other = json.loads(contents[-1])
    nodes = right["module"]
    wrong = [
        b"", b"\xff", b"null", b"[]", b"{}", b"1e999", b"[" * 100_000, right | {"notes": 3}, right | {"notes": [3]},
        right | {"steps": [["a"]]}, right | {"steps": [["a", "", 1]]}, right | {"warned": "no"}, right | {"module": []},
        right | {"module": other["module"]}, right | {"module": [*nodes, 3]}, right | {"module": nodes[:-1]},
        right | {"module": [["builtins.exec", "print(1)"]]}, right | {"module": [*nodes[:-1], ["known", 0]]},
        right | {"module": [*nodes, ["func.Module", *nodes[-1][1:5], 10**9, 0, 0]]},
    ]  # fmt: skip
    before = len(decided)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, each in enumerate(wrong, 1):
            contents.append(each if isinstance(each, bytes) else json.dumps(each).encode())
            made = optimized(growth())
            assert (str(made), made.explain()) == (str(first), first.explain()), each
            assert len(decided) == before + number, each
            assert json.loads(contents[-1]) == right, each


def test_what_is_damaged_here_and_there_raises_nothing(monkeypatch):
    """As long as nobody asks for the steps, which may make something else."""
    first = optimized(growth())
    right = json.loads(decision_of(first))
    nodes = right["module"]
    for k in range(0, len(nodes), 25):
        for node in ([], 7):
            payload = json.dumps(right | {"module": [*nodes[:k], node, *nodes[k + 1 :]]}).encode()
            monkeypatch.setattr(Cache, "known", lambda *_, payload=payload: payload)
            assert optimized(growth()).name == "f"


def test_steps_that_make_something_else_are_a_bug(decided, monkeypatch):
    """Nobody but a bug, or who writes into the cache, can make them: they are not shown as what made the kernel."""
    first = optimized(growth())
    content = json.loads(decision_of(first))
    for steps in ([], [["nothing()", "", ""]], [['vectorize("i", 2)', "", ""]], [['vectorize("k", 2)', "", ""]]):
        payload = json.dumps(content | {"steps": steps}).encode()
        monkeypatch.setattr(Cache, "known", lambda *_, payload=payload: payload)
        made = optimized(growth())
        with pytest.raises(InternalError, match="what the cache has of optimizing f is not what its steps make"):
            _ = made.schedule
        with pytest.raises(InternalError, match="is not what its steps make"):
            optimized(growth(), validate=True)


def decision_of(kernel):
    """What is kept of the only kernel that was optimized."""
    return kept().read_bytes().partition(b"\n")[2]


def test_what_is_remembered_is_validated_too(decided, monkeypatch):
    checked = []
    monkeypatch.setattr(pipeline, "require_same", lambda before, states, **_: checked.append(len(states)))
    first, second = (optimized(growth(), validate=True) for _ in range(2))
    assert len(decided) == 1
    assert checked == [len(first.schedule.steps)] * 2 == [len(second.schedule.steps)] * 2


def test_a_full_disk_costs_only_what_is_not_remembered(decided, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    for number in (1, 2):
        with pytest.warns(UserWarning, match="cannot store .*No space left on device; the next process makes it again"):
            optimized(growth())
        assert len(decided) == number


def test_old_decisions_make_room_for_new_ones(monkeypatch):
    optimized(growth())
    old = kept()
    os.utime(old, (1, 1))
    monkeypatch.setenv("AFFDSL_CACHE_LIMIT", str(old.stat().st_size * 3 // 2))
    optimized(growth(factor=3.0))
    assert not old.exists()
    assert kept()

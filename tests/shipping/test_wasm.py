"""Modules of WebAssembly: kernels called from JavaScript, by node and on a page in a browser, do what they do here."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.aot.machine import chosen_targets
from affdsl.codegen.aot.shipped import Library, ShippedKernel
from affdsl.codegen.aot.sources import sources
from affdsl.codegen.aot.web.script import page, script
from tests import oracles
from tests.shipping import kernels

N, M = af.symbols("N M")


@af.kernel
def every(a: af.i8[N], b: af.u16[N], c: af.i64[N], d: af.u64[N], e: af.u32[N], f: af.u8[N], g: af.i16[N]) -> af.u32:
    """Integers of all kinds."""
    last = af.var(af.u32(0))
    with af.for_(N) as i:
        a[i] += 100
        b[i] += 65000
        c[i] -= 1
        d[i] += d[i]
        e[i] += 4000000000
        f[i] += 255
        g[i] *= 300
        last.set(e[i])
    return last


@af.kernel
def chosen(flag: af.bool_, k: af.i32, n: af.u64, x: af.f32) -> (af.bool_, af.i32, af.u64, af.f32):
    """Numbers of all kinds, there and back."""
    return flag, k - 1, n + 1, x / 2


@af.kernel
def rows(x: af.f64[N, M]) -> af.f64:
    """An array of another shape, and one that is allocated."""
    out, kept = af.alloc(af.f64[M // 2 + 1, N + M]), af.alloc(af.f64[M])
    with af.for_(M // 2 + 1) as i, af.for_(N + M) as j:
        out[i, j] = 1.0
    with af.for_(M) as j:
        kept[j] = x[N - 1, j]
        out[0, j] = 2.0 * kept[j]
    return out


SHIPPED = [
    kernels.product, kernels.mean, kernels.shifted, kernels.gathered, kernels.rooted, kernels.said, kernels.doubled,
    kernels.turned, kernels.twice, kernels.total, every, chosen, rows,
]  # fmt: skip
PAGES = [kernels.product, kernels.mean, kernels.twice, kernels.total]
"""Those whose result on the page is compared."""


def library(listed):
    """A library as `build` asks for it, without a compiler."""
    targets = chosen_targets(["baseline"])
    shipped = tuple(ShippedKernel(k.program, k.guarding, {"baseline": k.module}, k.__doc__ or "") for k in listed)
    return Library("some", "0.1.0", shipped, tuple(k.name for k in listed), targets, checked=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A module of all kernels here."""
    oracles.optional("zig")
    folder = tmp_path_factory.mktemp("wasm")
    files = af.build(SHIPPED, folder, name="some", platform="wasm32", threads_parameter=True)
    assert {"some.wasm", "some.mjs", "some.html", "libsome.a", "some.h", "some.c"} <= {file.name for file in files}
    return folder


DRIVER = """\
import { load } from "./some.mjs";
const kernels = await load();
const KINDS = {
    float32: Float32Array, float64: Float64Array, int8: Int8Array, int16: Int16Array, int32: Int32Array,
    int64: BigInt64Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};
const made = ([kind, values]) =>
    KINDS[kind] === undefined ? (kind === "bigint" ? BigInt(values) : values)
        : KINDS[kind].from(values, kind.endsWith("int64") ? BigInt : Number);
const shown = (x) => ArrayBuffer.isView(x) || Array.isArray(x) ? [...x].map(shown) : x === undefined ? null
    : typeof x === "bigint" ? `${x}n` : x;
for (const [name, given] of JSON.parse(process.argv[2])) {
    const values = given.map(made);
    let answer;
    try {
        answer = { answer: shown(kernels[name](...values)) };
    } catch (error) {
        answer = { error: String(error) };
    }
    console.log(JSON.stringify({ ...answer, arrays: values.filter(ArrayBuffer.isView).map(shown) }));
}
"""


def on_node(built, *calls):
    """What calls give: the answer or the error, and the arrays afterwards; and what is printed before."""
    (built / "driver.mjs").write_text(DRIVER)
    told = json.dumps([[name, [given(x) for x in arguments]] for name, *arguments in calls])
    command = [oracles.optional("node"), "driver.mjs", told]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")], [x for x in lines if not x.startswith("{")]


def given(value):
    """A value as the driver reads it."""
    if not isinstance(value, np.ndarray):
        return ["bigint", str(value)] if isinstance(value, int) and abs(value) > 2**53 else ["", value]
    if value.dtype.kind == "c":
        value = value.view(value.real.dtype)
    flat = value.ravel()
    return [
        str(value.dtype),
        [str(x) if value.dtype.itemsize == 8 and value.dtype.kind in "iu" else x.item() for x in flat],
    ]


def number(shown):
    """A number as JavaScript shows it."""
    return int(shown[:-1]) if isinstance(shown, str) else shown


def same(kernel, found, *arguments, answer=None):
    """Check what a call left against a call of the kernel here; sizes that no call here has are not given."""
    copies = [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments]
    wanted = kernel.interpret(*copies)
    assert "error" not in found, found
    held = [x for x in copies if isinstance(x, np.ndarray)]
    assert len(found["arrays"]) == len(held)
    for left, array in zip(found["arrays"], held, strict=True):
        flat = array.view(array.real.dtype).ravel()
        np.testing.assert_array_equal(np.array([*map(number, left)], flat.dtype), flat, strict=True)
    if wanted is None:
        assert found["answer"] is None
        return
    listed = [*wanted] if isinstance(wanted, tuple) else [wanted]
    got = found["answer"] if isinstance(wanted, tuple) else [found["answer"]]
    for left, value in zip(got, listed, strict=True):
        value = np.asarray(value)
        flat = [*map(number, left)] if value.shape else [number(left)]
        np.testing.assert_array_equal(np.array(flat, value.dtype), value.ravel(), strict=True)


def test_kernels_do_the_same_in_node(built):
    random = np.random.default_rng(1)
    a, b, c = random.random((2, 3), "f4"), random.random((3, 5), "f4"), np.zeros((2, 5), "f4")
    x, y = random.random(9), random.random(9)
    ints = random.integers(-9, 9, 7, "i4")
    z, w = (random.random(4) + 1j).astype("c8"), random.random(4) + 2j
    kinds = [random.integers(0, 100, 3).astype(t) for t in ("i1", "u2", "i8", "u8", "u4", "u1", "i2")]
    kinds[3] += np.uint64(2**62)
    empty = np.zeros(0)
    m = random.random((3, 5))
    calls = [
        (kernels.product, (a, b, c), (2, 3, 5, a, b, c)),
        (kernels.mean, (ints, np.int32(-2)), (7, ints, -2)),
        (kernels.shifted, (x, y[:8].copy()), (9, 8, x, y[:8].copy())),
        (kernels.twice, (x, y), (9, x, y)),
        (kernels.twice, (empty, empty.copy()), (0, empty, empty)),
        (kernels.total, (x, y), (9, x, y)),
        (kernels.doubled, (x.astype("f4"),), (9, x.astype("f4"))),
        (kernels.turned, (z, w, 1.5), (4, z, w, 1.5)),
        (every, kinds, (3, *kinds)),
        (chosen, (True, np.int32(-7), np.uint64(2**64 - 2), np.float32(3)), (True, -7, 2**64 - 2, 3)),
        (rows, (m,), (3, 5, m)),
        (kernels.gathered, (x, np.array([8, 0, 3]), y[:3].copy()), (9, 3, x, np.array([8, 0, 3]), y[:3].copy())),
    ]  # fmt: skip
    found, _ = on_node(built, *((kernel.name, *js) for kernel, _, js in calls))
    for (kernel, here, _), each in zip(calls, found, strict=True):
        same(kernel, each, *here)


def test_calls_that_do_not_fit_are_refused_in_node(built):
    x, y, f = np.arange(4.0), np.zeros(4), np.arange(4, dtype="f4")
    refused = {
        "TypeError: twice takes 3 arguments (N, x, y), not 2": ("twice", 4, x),
        "TypeError: twice: argument 'x' must be a Float64Array, not Float32Array": ("twice", 4, f, y),
        "TypeError: twice: argument 'x' must be a Float64Array, not number 3": ("twice", 4, 3, y),
        "TypeError: twice: argument 'N' must be an integer, not number 4.5": ("twice", 4.5, x, y),
        "RangeError: twice: argument 'x' has 4 elements, but these sizes make it 5": ("twice", 5, x, y),
        "RangeError: twice requires that N is at least 0": ("twice", -1, x, y),
        "RangeError: twice: argument 'N' is 9223372036854775808, which int64_t cannot hold": ("twice", 2**63, x, y),
        "RangeError: twice: 'x' has 268435456 elements, and no array of 2 GiB has room in 32 bits":
            ("twice", 2**28, x, y),
        "RangeError: twice: 'x' has 9223372036854775807 elements, and no array of 2 GiB has room in 32 bits":
            ("twice", 2**63 - 1, x, y),
        "RangeError: mean: argument 'least' is 2147483648, which int32_t cannot hold":
            ("mean", 4, x.astype("i4"), 2**31),
        "TypeError: chosen: argument 'flag' must be true or false, not number 1": ("chosen", 1, 2, 3, 4.0),
    }  # fmt: skip
    found, _ = on_node(built, *refused.values())
    assert [each.get("error") for each in found] == [*refused]
    unequal, _ = on_node(built, ("shifted", 4, 4, x, y))
    assert unequal[0]["error"].startswith("RangeError: shifted requires that ")
    outside, _ = on_node(built, ("gathered", 4, 2, x, np.array([1, 4]), y[:2].copy()))
    assert "gathered: " in outside[0]["error"]
    assert "values[places[i]]" in outside[0]["error"]
    failed, _ = on_node(built, ("rooted", 2, np.array([1, -1], "f4")))
    assert "not negative" in failed[0]["error"]


def test_what_kernels_print_is_on_the_console(built):
    _, printed = on_node(built, ("said", 2, np.array([1.5, 2.5], "f4")))
    assert printed == ["x 0 1.5", "x 1 2.5"]


LARGE = """\
import { load } from "./some.mjs";
const { twice, total } = await load();
const many = 40000000, x = new Float64Array(many).fill(1), y = new Float64Array(many).fill(2);
console.log(total(many, x, y));
const most = 2 ** 28 - 1;
try {
    twice(most, new Float64Array(most), new Float64Array(most));
} catch (error) {
    console.log(String(error));
}
console.log(total(2, x.subarray(0, 2), y.subarray(0, 2)));
const shared = new Float64Array(8);
try {
    twice(5, shared.subarray(0, 5), shared.subarray(3));
} catch (error) {
    console.log(String(error));
}
"""


def test_memory_grows_and_ends(built):
    (built / "large.mjs").write_text(LARGE)
    command = [oracles.optional("node"), "large.mjs"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, timeout=300, check=True)
    first, memory, again, overlap = done.stdout.splitlines()
    assert memory.startswith("RangeError: twice: there is no memory for the 2147483640 bytes of ")
    assert (first, again) == ("80000000", "4")
    assert overlap == "RangeError: twice: arguments 'x' and 'y' overlap, and one is written"


def filled(kind, shape, numbers, which):
    """What the page puts into an array."""
    k = np.arange(int(np.prod(shape)))
    least = min([8, *numbers])
    made = (7 * k + 3 * which) % 10 / 4 if np.dtype(kind).kind == "f" else k % max(least, 1)
    return made.astype(kind).reshape(shape)


def test_the_page_in_a_browser(built, tmp_path):
    chromium = oracles.require("chromium")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000")
    command = [chromium, *flags, f"--user-data-dir={tmp_path}/profile", (built / "some.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert 'data-ready="yes"' in done.stdout, done.stderr
    found = {
        name: unescape(text) for name, text in re.findall(r'id="result-(\w+)"[^>]*>(.*?)</pre>', done.stdout, re.S)
    }
    assert {*found} == {kernel.name for kernel in SHIPPED}
    a, b = filled("f4", (8, 8), [8, 8, 8], 0), filled("f4", (8, 8), [8, 8, 8], 1)
    c = filled("f4", (8, 8), [8, 8, 8], 2)
    kernels.product(a, b, c)
    assert found["product"] == f"C = {listed(c)}"
    mean = kernels.mean(filled("i4", 8, [8], 0), np.int32(8))
    assert found["mean"] == f"returns {plain(mean)}"
    x, y = filled("f8", 8, [8], 0), filled("f8", 8, [8], 1)
    kernels.twice(x, y)
    assert found["twice"] in (f"x = {listed(x)}", f"y = {listed(y)}", f"x = {listed(x)}\ny = {listed(y)}")
    assert found["shifted"].startswith("RangeError: shifted requires that ")


def listed(array):
    """An array as the page shows it."""
    return f"[{', '.join(plain(x) for x in array.ravel()[:64])}]"


def plain(x):
    """A number as JavaScript shows it."""
    return f"{float(x):g}"


REFUSED = {
    kernels.scaled: "an array with strides, which typed arrays do not have: leave out strided=True",
    kernels.half: "float16, for which there are no typed arrays",
    kernels.by_number: "the complex number 'by': pass an array of one",
}


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.name)
def test_what_a_page_cannot_pass_is_refused(kernel):
    asked = library([kernel])
    with pytest.raises(af.UnsupportedError) as error:
        script(asked, sources(asked))
    assert str(error.value).endswith(f"{kernel.name}: a page cannot pass {REFUSED[kernel]} to C")


def test_what_only_numbers_decide_is_refused():
    asked = library([kernels.folded])
    with pytest.raises(af.UnsupportedError) as error:
        script(asked, sources(asked))
    assert "only the numbers of each call decide, and a page has no affdsl that could" in str(error.value)


def test_a_wheel_is_refused(tmp_path):
    oracles.optional("zig")
    with pytest.raises(af.BuildError) as error:
        af.build(kernels.product, tmp_path, platform="wasm32", python=True)
    assert "python=True makes a wheel, which cannot call a module of WebAssembly: leave it out" in str(error.value)
    assert not [*tmp_path.iterdir()]


def test_a_script_says_how_it_is_used():
    asked = library([kernels.product])
    text = script(asked, sources(asked))
    assert 'import { load } from "./some.mjs";' in text
    assert 'shape: (n) => [n["M"], n["K"]]' in text
    whole = page(asked, text, b"\0asm")
    assert "AGFzbQ==" in whole
    assert text in whole

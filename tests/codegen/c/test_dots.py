"""Contractions that are sums of products of narrow integers: which are one operation in C, and which are not."""

import pytest

from affdsl.codegen.c.dots import dots
from affdsl.mlir.readers import parse


def contraction(
    *, narrow: str = "i8", wide: str = "i32", lanes: int = 8, each: int = 4, casts: str = "extsi extsi", kind="add"
) -> str:
    """acc[k] combined with the products of the lanes `each * k` and following of two vectors of narrow integers."""
    left, right = casts.split()
    flat, rows = f"{lanes * each}x{wide}", f"{lanes}x{each}x{wide}"
    given = f"vector<{lanes * each}x{narrow}>"

    def widened(name: str, cast: str) -> str:
        if cast == "none":
            return f"%{name}_wide = arith.constant dense<1> : vector<{flat}>"
        return f"%{name}_wide = arith.{cast} %{name} : {given} to vector<{flat}>"

    return f"""
    func.func @f(%x: {given}, %y: {given}, %acc: vector<{lanes}x{wide}>) -> vector<{lanes}x{wide}> {{
      {widened("x", left)}
      {widened("y", right)}
      %l = vector.shape_cast %x_wide : vector<{flat}> to vector<{rows}>
      %r = vector.shape_cast %y_wide : vector<{flat}> to vector<{rows}>
      %s = vector.contract {{
        indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
        iterator_types = ["parallel", "reduction"], kind = #vector.kind<{kind}>
      }} %l, %r, %acc : vector<{rows}>, vector<{rows}> into vector<{lanes}x{wide}>
      return %s : vector<{lanes}x{wide}>
    }}"""


def found(text: str) -> list[str]:
    function = parse(text).functions[0]
    made = dots(function)
    assert all({*dot.factors} == {*function.args[:2]} for dot in made.values())
    return [dot.helper.removeprefix("dot_") for dot in made.values()]


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize(("narrow", "each"), [("i8", 4), ("i16", 2)])
def test_products_of_narrow_integers_that_are_summed_up_in_order_are_one_operation(lanes, narrow, each):
    for cast, sign in (("extsi", "i"), ("extui", "u")):
        text = contraction(lanes=lanes, narrow=narrow, each=each, casts=f"{cast} {cast}")
        assert found(text) == [f"{sign}{narrow[1:]}"]


@pytest.mark.parametrize(("casts", "order"), [("extui extsi", 1), ("extsi extui", -1)])
def test_of_bytes_one_factor_may_have_no_sign_whichever_it_is(casts, order):
    function = parse(contraction(casts=casts)).functions[0]
    (dot,) = dots(function).values()
    assert (dot.helper, dot.factors) == ("dotu_i8", function.args[:2][::order])


@pytest.mark.parametrize("given", [
    {"casts": "extsi extui", "narrow": "i16", "each": 2}, {"casts": "none none"}, {"casts": "extsi none"},
    {"kind": "maxsi"}, {"narrow": "i4"}, {"narrow": "i8", "each": 2}, {"narrow": "i16", "each": 4},
    {"wide": "i64"}, {"wide": "i64", "each": 8}, {"lanes": 2}, {"lanes": 32},
    {"narrow": "f16", "wide": "f32", "each": 2, "casts": "extf extf"},
], ids=str)  # fmt: skip
def test_all_others_are_not(given):
    assert found(contraction(**given)) == []

"""Where the vertices of a layered drawing stand: in which layer, in which order, and how far to the right.

The steps are those of Sugiyama, Tagawa and Toda ("Methods for visual understanding of hierarchical system structures",
1981); positions within a layer are the closest ones to the neighbours' that keep the order and the gaps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

MOST_IN_LAYER = 4
"""How many boxes stand side by side at most."""
SWEEPS = 24
"""How often the order is improved, and then the positions are."""


@dataclass(eq=False)
class Vertex:
    """What takes a place: a box, the words of an arrow, or a point where a long arrow passes a layer.

    `left` and `right` are how far it reaches from its x, `height` how tall it is. `chain` is, for what belongs to an
    arrow, the box above, all that belongs to it, and the box below.
    """

    left: float
    right: float
    height: float
    layer: int = 0
    x: float = 0.0
    is_box: bool = False
    above: list[Vertex] = field(default_factory=list)
    below: list[Vertex] = field(default_factory=list)
    chain: Sequence[Vertex] = ()


def ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """For each vertex a rank below those of all vertices that have an edge to it; edges go from lower to higher ones.

    >>> ranks(4, [(0, 1), (0, 2), (1, 3)])
    [0, 1, 1, 2]
    """
    above: Mapping[int, list[int]] = defaultdict(list)
    for source, sink in edges:
        above[sink].append(source)
    found: list[int] = []
    members: Counter[int] = Counter()
    for vertex in range(count):
        rank = max((found[source] + 1 for source in above[vertex]), default=0)
        while members[rank] >= MOST_IN_LAYER:
            rank += 1
        members[rank] += 1
        found.append(rank)
    return found


def place(vertices: Sequence[Vertex], gap: float) -> list[list[Vertex]]:
    """Order the vertices of each layer so that few edges cross, and set their x. The layers, from left to right."""
    layers: list[list[Vertex]] = [[] for _ in range(max((v.layer for v in vertices), default=-1) + 1)]
    for vertex in vertices:
        layers[vertex.layer].append(vertex)
    _order(layers)
    for layer in layers:
        right = 0.0
        for vertex in layer:
            vertex.x = right + vertex.left
            right = vertex.x + vertex.right + gap
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _settle(layer, gap)
    start = min((v.x - v.left for v in vertices), default=0.0)
    for vertex in vertices:
        vertex.x -= start
    return layers


def isotonic(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The numbers closest to the wanted ones, by weighted squares, that never fall: adjacent violators are pooled.

    >>> isotonic([1.0, 4.0, 2.0], [1.0, 1.0, 1.0])
    [1.0, 3.0, 3.0]
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for number, weight in zip(wanted, weights, strict=True):
        pool = (number, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, other, members = pools.pop()
            total = other + pool[1]
            pool = ((mean * other + pool[0] * pool[1]) / total, total, members + pool[2])
        pools.append(pool)
    return [mean for mean, _, members in pools for _ in range(members)]


def _order(layers: list[list[Vertex]]) -> None:
    """Sort each layer by the mean place of the neighbours, down and up, and keep the best order that came by."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    places = {v: k for layer in layers for k, v in enumerate(layer)}
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            layer.sort(key=lambda v: _mean([places[n] for n in (v.above if down else v.below)], places[v]))
            places.update((v, k) for k, v in enumerate(layer))
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _mean(places: Sequence[int], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(layers: Sequence[Sequence[Vertex]]) -> int:
    found = 0
    for layer, below in pairwise(layers):
        place = {v: k for k, v in enumerate(below)}
        ends = [sorted(place[n] for n in v.below) for v in layer]
        seen: list[int] = []
        for each in ends:
            found += sum(len(seen) - bisect_right(seen, end) for end in each)
            seen = sorted(seen + each)
    return found


def _settle(layer: Sequence[Vertex], gap: float) -> None:
    """Move the vertices of a layer as close to the mean of their neighbours as their order and the gaps allow."""
    starts, wanted, weights = [], [], []
    start = 0.0
    for k, vertex in enumerate(layer):
        start += (layer[k - 1].right + gap + vertex.left) if k else 0.0
        starts.append(start)
        wanted.append(_wanted(vertex) - start)
        weights.append(max(1.0, len(vertex.chain)))
    for vertex, x, start in zip(layer, isotonic(wanted, weights), starts, strict=True):
        vertex.x = x + start


def _wanted(vertex: Vertex) -> float:
    """Where a vertex would like to stand: a box amid its neighbours, what belongs to an arrow in line with the rest."""
    if not vertex.chain:
        near = (*vertex.above, *vertex.below)
        return sum(n.x for n in near) / len(near) if near else vertex.x
    top, *chain, bottom = vertex.chain
    return (4 * sum(v.x for v in chain) / len(chain) + top.x + bottom.x) / 6

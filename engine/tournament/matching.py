"""Perfect matching of smallest cost in any graph: Edmonds' blossoms with dual variables, O(n³).

Vertices are 1..n, blossoms n+1..2n, and 0 is none; every table is indexed by both. An *outer* node is reached
by an even number of edges from an unmatched one, an *inner* node by an odd number. An edge is *tight* when
its slack is 0; only tight edges are walked on, and the duals move so that more become tight.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

FREE, OUTER, INNER = -1, 0, 1


def cheapest_pairs(vertices: int, costs: Mapping[tuple[int, int], int]) -> list[tuple[int, int]] | None:
    """Pair all vertices 0..n-1 at the smallest sum of costs, or None when they cannot all be paired.

    `costs` of the allowed pairs (i, j) with i < j, whole numbers from 0; a pair left out is not allowed.

    >>> cheapest_pairs(4, {(0, 1): 0, (1, 2): 5, (0, 3): 5, (0, 2): 1, (1, 3): 1})
    [(0, 2), (1, 3)]
    >>> cheapest_pairs(4, {(0, 1): 0, (0, 2): 0, (0, 3): 0}) is None
    True
    """
    if vertices % 2:
        return None
    matcher = _Matcher(vertices, {pair: -cost for pair, cost in costs.items()})
    while matcher.add_pair():
        pass
    mates = matcher.mate[1 : vertices + 1]
    if 0 in mates:
        return None
    return [(one, mate - 1) for one, mate in enumerate(mates) if one < mate - 1]


class _Matcher:
    """A matching of greatest weight among those of its size, grown pair by pair.

    Weights are doubled so that all duals stay whole numbers.
    """

    def __init__(self, n: int, weights: Mapping[tuple[int, int], int]) -> None:
        size = 2 * n + 1
        self.n = n
        self.last = n  # highest node in use
        self.weight = [[0] * (n + 1) for _ in range(n + 1)]
        self.edge: list[list[tuple[int, int] | None]] = [[None] * size for _ in range(size)]
        for (i, j), weight in weights.items():
            u, v = i + 1, j + 1
            self.weight[u][v] = self.weight[v][u] = 2 * weight
            self.edge[u][v], self.edge[v][u] = (u, v), (v, u)
        top = max(weights.values(), default=0)
        self.dual = [top if 1 <= x <= n else 0 for x in range(size)]
        self.mate = [0] * size  # of a blossom: the vertex outside which it is matched to
        self.node = [x if x <= n else 0 for x in range(size)]  # outermost node that holds it
        self.parent = [0] * size
        self.label = [FREE] * size
        self.best = [0] * size  # the outer vertex whose edge to this node has the least slack
        self.cycle: list[list[int]] = [[] for _ in range(size)]
        self.holder = [[0] * (n + 1) for _ in range(size)]  # which part of a blossom a vertex lies in
        for u in range(1, n + 1):
            self.holder[u][u] = u
        self.queue: deque[int] = deque()

    def slack(self, edge: tuple[int, int]) -> int:
        u, v = edge
        return self.dual[u] + self.dual[v] - self.weight[u][v]

    def between(self, x: int, y: int) -> tuple[int, int]:
        edge = self.edge[x][y]
        assert edge is not None
        return edge

    def outermost(self) -> Iterator[int]:
        return (x for x in range(1, self.last + 1) if self.node[x] == x)

    def blossoms(self, label: int) -> Iterator[int]:
        return (b for b in self.outermost() if b > self.n and self.label[b] == label)

    # one more pair

    def add_pair(self) -> bool:
        """Enlarge the matching by one pair of greatest weight; False when it cannot be."""
        self.queue.clear()
        for x in range(1, self.last + 1):
            self.label[x], self.best[x] = FREE, 0
        for x in self.outermost():
            if not self.mate[x]:
                self.parent[x] = 0
                self.make_outer(x)
        while True:
            if self.scan():
                return True
            step = self.step()
            if step is None:
                return False
            self.move_duals(step)
            if self.walk_tight():
                return True
            for b in list(self.blossoms(INNER)):
                if self.dual[b] == 0:
                    self.expand(b)

    def scan(self) -> bool:
        """Walk on from the queued outer vertices; True when two trees met and a pair was won."""
        while self.queue:
            u = self.queue.popleft()
            for v in range(1, self.n + 1):
                edge = self.edge[u][v]
                if edge is None or self.node[u] == self.node[v]:
                    continue
                if self.slack(edge):
                    self.offer(u, self.node[v])
                elif self.walk(edge):
                    return True
        return False

    def step(self) -> int | None:
        """How far the duals can move until an edge becomes tight or a blossom opens; None: no way is left."""
        steps = [self.dual[b] // 2 for b in self.blossoms(INNER)]
        for x in self.outermost():
            if self.best[x] and self.label[x] != INNER:
                slack = self.slack(self.between(self.best[x], x))
                steps.append(slack if self.label[x] == FREE else slack // 2)
        return min(steps, default=None)

    def move_duals(self, step: int) -> None:
        sign = {OUTER: -1, FREE: 0, INNER: 1}
        for u in range(1, self.n + 1):
            self.dual[u] += sign[self.label[self.node[u]]] * step
        for b in self.outermost():
            if b > self.n:
                self.dual[b] -= 2 * sign[self.label[b]] * step

    def walk_tight(self) -> bool:
        for x in list(self.outermost()):
            u = self.best[x]
            if self.node[x] == x and u and self.node[u] != x:
                edge = self.between(u, x)
                if self.slack(edge) == 0 and self.walk(edge):
                    return True
        return False

    def walk(self, edge: tuple[int, int]) -> bool:
        """Take a tight edge from an outer vertex: to a free node, into the same tree, or to another one."""
        u, v = self.node[edge[0]], self.node[edge[1]]
        if self.label[v] == FREE:
            self.parent[v] = edge[0]
            self.label[v] = INNER
            self.best[v] = 0
            self.make_outer(self.node[self.mate[v]])
        elif self.label[v] == OUTER:
            meeting = self.meeting(u, v)
            if not meeting:
                self.augment(u, v)
                self.augment(v, u)
                return True
            self.shrink(u, meeting, v)
        return False

    def make_outer(self, x: int) -> None:
        self.label[x] = OUTER
        self.best[x] = 0
        self.enqueue(x)

    def enqueue(self, x: int) -> None:
        if x <= self.n:
            self.queue.append(x)
        for part in self.cycle[x]:
            self.enqueue(part)

    def offer(self, u: int, x: int) -> None:
        """Keep u as the best neighbour of node x if its slack is less."""
        best = self.best[x]
        if not best or self.slack(self.between(u, x)) < self.slack(self.between(best, x)):
            self.best[x] = u

    def find_best(self, x: int) -> None:
        self.best[x] = 0
        for u in range(1, self.n + 1):
            if self.edge[u][x] and self.node[u] != x and self.label[self.node[u]] == OUTER:
                self.offer(u, x)

    # paths

    def up(self, x: int) -> int:
        """The next outer node towards the root of an outer node's tree; 0 at the root."""
        inner = self.node[self.mate[x]]
        return self.node[self.parent[inner]] if inner else 0

    def meeting(self, u: int, v: int) -> int:
        """The first node on both ways to the root; 0 when the trees differ."""
        above = set()
        while u:
            above.add(u)
            u = self.up(u)
        while v and v not in above:
            v = self.up(v)
        return v

    def augment(self, u: int, v: int) -> None:
        """Match outer node u to v, and change over all pairs from u to its root."""
        while True:
            inner = self.node[self.mate[u]]
            self.match(u, v)
            if not inner:
                return
            outer = self.node[self.parent[inner]]
            self.match(inner, outer)
            u, v = outer, inner

    def match(self, x: int, y: int) -> None:
        """Match node x to node y; the pairs inside a blossom turn so that the right part of it is open."""
        start, self.mate[x] = self.between(x, y)
        if x > self.n:
            part = self.holder[x][start]
            way = self.even_way(x, part)
            for i in range(way):
                self.match(self.cycle[x][i], self.cycle[x][i ^ 1])
            self.match(part, y)
            self.cycle[x] = self.cycle[x][way:] + self.cycle[x][:way]

    def even_way(self, b: int, part: int) -> int:
        """Place of a part in the cycle of b, turned round if needed so that it is even."""
        cycle = self.cycle[b]
        at = cycle.index(part)
        if at % 2:
            cycle[1:] = cycle[:0:-1]
            at = len(cycle) - at
        return at

    # blossoms

    def assign(self, x: int, b: int) -> None:
        self.node[x] = b
        for part in self.cycle[x]:
            self.assign(part, b)

    def shrink(self, u: int, base: int, v: int) -> None:
        """Make one outer node of the odd cycle base … u – v … base."""
        b = next((x for x in range(self.n + 1, self.last + 1) if not self.node[x]), self.last + 1)
        self.last = max(self.last, b)
        left, right = self.branch(u, base), self.branch(v, base)
        self.cycle[b] = [base, *reversed(left), *right]
        self.dual[b], self.label[b], self.mate[b] = 0, OUTER, self.mate[base]
        self.assign(b, b)
        self.join_edges(b)
        self.find_best(b)

    def branch(self, x: int, base: int) -> list[int]:
        way: list[int] = []
        while x != base:
            inner = self.node[self.mate[x]]
            way += (x, inner)
            self.enqueue(inner)
            x = self.node[self.parent[inner]]
        return way

    def join_edges(self, b: int) -> None:
        """Give b the tightest of its parts' edges to every node."""
        for x in range(1, self.last + 1):
            self.edge[b][x] = self.edge[x][b] = None
        self.holder[b] = [0] * (self.n + 1)
        for part in self.cycle[b]:
            for x in range(1, self.last + 1):
                edge, known = self.edge[part][x], self.edge[b][x]
                if edge and (known is None or self.slack(edge) < self.slack(known)):
                    self.edge[b][x], self.edge[x][b] = edge, edge[::-1]
            for u in range(1, self.n + 1):
                if self.holder[part][u]:
                    self.holder[b][u] = part

    def expand(self, b: int) -> None:
        """Open an inner blossom; the even way through it stays in the tree, the rest becomes free."""
        for part in self.cycle[b]:
            self.assign(part, part)
        entry = self.holder[b][self.between(b, self.parent[b])[0]]
        way = self.even_way(b, entry)
        cycle = self.cycle[b]
        for i in range(0, way, 2):
            inner, outer = cycle[i], cycle[i + 1]
            self.parent[inner] = self.between(outer, inner)[0]
            self.label[inner], self.best[inner] = INNER, 0
            self.label[outer] = OUTER
            self.find_best(outer)
            self.enqueue(outer)
        self.label[entry], self.parent[entry], self.best[entry] = INNER, self.parent[b], 0
        for part in cycle[way + 1 :]:
            self.label[part] = FREE
            self.find_best(part)
        self.node[b] = 0
        self.cycle[b] = []

#!/usr/bin/env python3
"""The module's documentation."""

from __future__ import annotations

import os
import os.path as osp, sys
import numpy.linalg as la
from . import sibling
from ..pkg.mod import first, second as renamed
from star import *

# A comment above a constant.
MAX_SIZE: int = 10
_hidden = 1
a = b = 2
x, (y, *rest) = 1, (2, 3, 4)
x = 3  # not another declaration
[p, q] = 1, 2
über = "ünïcode 😀"
type Alias = int | str
type Pair[T] = tuple[T, T]


class Color(Enum):
    """Colours."""

    RED = 1
    GREEN = 2


# Above the decorator.
@dataclass(frozen=True)
@other.decorator
# between
class Order(Base, pkg.Mixin[int], metaclass=Meta):
    """An order.

        Indented.
    Last.
    """

    name: str
    count: int = 0
    _protected = 1
    __private = 2

    def __init__(self, name: str, *args: int, count=1, **kw: object) -> None:
        self.name = name
        self.total: float = 0.0
        self.total = 1.0
        self.left, self.right = 1, 2

    @property
    def size(self) -> int:
        """The size."""
        return self._size

    @size.setter
    def size(self, value: int) -> None:
        self._size = value

    @functools.cached_property
    def cached(self): return 1

    @staticmethod
    def make(kind: str = "x", /, *, flag: bool = False) -> "Order":
        return Order(kind)

    @classmethod
    def build(cls, x):
        cls.registry = {}
        return cls(x)

    @overload
    def get(self, key: int) -> int: ...
    @overload
    def get(self, key: str) -> str: ...
    def get(self, key):
        return key

    async def run(self, cb: Callable[[int], str] | None = None):
        async with open(self.name) as f, lock as (g, h):
            pass

    class Inner[T: int, *Ts, **P](Protocol):
        field: T

        def deep(self, v: T) -> T:
            def nested(n, m=2):
                local = n
                nonlocal outer_name
                outer_name = 1
                return local

            return nested(v)

    def __eq__(self, other): return NotImplemented

    def __secret(self): pass


def outer[T](first: T, second=lambda u, *v: u):
    global MAX_SIZE, late
    MAX_SIZE = 11
    late = 2
    total = 0
    total += 1
    total = 2
    for i, (j, k) in enumerate([]):
        total = i
    for i in []:
        pass
    else:
        after = 1
    squares = [n * m for n in range(3) for m in n if (w := n)]
    d = {key: val for key, val in {}.items()}
    try:
        pass
    except (ValueError, OSError) as err:
        print(err)
    except* TypeError as group:
        pass
    if (walrus := len("x")) > 1:
        pass
    match total:
        case Point(px, y=py, z=Point(pz)):
            pass
        case [one, *others] | (one, others):
            pass
        case {"k": value, **more} if value:
            pass
        case str() as text:
            pass
        case Color.RED:
            pass
        case anything:
            pass

    class Local:
        attr = 1

        def m(self):
            self.inst = 2

    return f"{total!r:>{width}} {'nested ' + f'{squares}'} tail" "second" rb'raw'


async def agen():
    """One line."""
    yield 1
    async for z in agen():
        await z


if sys.version_info > (3,):
    def conditional(): return 1
else:
    def conditional(): return 2

square = lambda s: s * s
print(len("a"), end='')


@app.route("/")
async def calls(order: Order):
    await order.save(*make(1))[0]()
    match order:
        case Order(total=1):
            raise errors.Failed(f"{describe(order)}")
    return (callback)(order)

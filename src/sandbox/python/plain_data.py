"""Tagged plain data: the only thing that passes between a program and its judge.

null, true, false, strings and integers below 2^53 are themselves; everything else is a list that starts with a tag:
i int (hex) · f float (repr) · c complex · b bytes (hex) · D Decimal · F Fraction · l list · t tuple · d dict
(key, value, key, value ...) · s set · z frozenset · o opaque: anything else, with the name of its type.
"""

import json
import sys

DEEPEST = 100
MOST_VALUES = 2_000_000
SAFE = 1 << 53
# A metaclass may fake __name__.
TYPE_NAME = type.__dict__["__name__"].__get__


class Malformed(Exception):
    """The text is not tagged plain data."""


class Opaque:
    """A value of which only the type's name is known. It equals nothing, not even itself."""

    def __init__(self, type_name):
        self.type_name = type_name

    def __eq__(self, other):
        return False

    __hash__ = object.__hash__

    def __repr__(self):
        return f"<{self.type_name} object>"


def dumps(value):
    budget = [MOST_VALUES]
    return json.dumps(encode(value, 0, budget), separators=(",", ":")).encode("ascii")


def encode(value, depth, budget):
    """Asks only the base classes, so that a subclass cannot lie about what its object is."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -SAFE < value < SAFE else ["i", hex(value)]
    if kind is float:
        return ["f", float.__repr__(value)]
    budget[0] -= 1
    if depth > DEEPEST or budget[0] < 0:
        return ["o", "too large or too deep"]
    if issubclass(kind, list):
        return items("l", list.__iter__(value), list.__len__(value), depth, budget)
    if issubclass(kind, tuple):
        return items("t", tuple.__iter__(value), tuple.__len__(value), depth, budget)
    if issubclass(kind, dict):
        tagged = ["d"]
        for key, entry in dict.items(value):
            tagged.append(encode(key, depth + 1, budget))
            tagged.append(encode(entry, depth + 1, budget))
        return tagged
    if issubclass(kind, set):
        return items("s", set.__iter__(value), set.__len__(value), depth, budget)
    if issubclass(kind, frozenset):
        return items("z", frozenset.__iter__(value), frozenset.__len__(value), depth, budget)
    return scalar(value, kind)


def items(tag, iterator, length, depth, budget):
    budget[0] -= length
    if budget[0] < 0:
        return ["o", "too large or too deep"]
    tagged = [encode(item, depth + 1, budget) for item in iterator]
    tagged.insert(0, tag)
    return tagged


def scalar(value, kind):
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return encode(int.__int__(value), 0, [1])
    if issubclass(kind, float):
        return ["f", float.__repr__(float.__float__(value))]
    if issubclass(kind, complex):
        parts = (complex.real.__get__(value), complex.imag.__get__(value))
        return ["c", float.__repr__(parts[0]), float.__repr__(parts[1])]
    if issubclass(kind, bytes):
        return ["b", bytes.hex(value)]
    # If the module is not loaded, no value can have its types.
    decimal = sys.modules.get("decimal")
    if decimal is not None and issubclass(kind, decimal.Decimal):
        return ["D", decimal.Decimal.__str__(value)]
    fractions = sys.modules.get("fractions")
    if fractions is not None and issubclass(kind, fractions.Fraction):
        parts = (fractions.Fraction.numerator.__get__(value), fractions.Fraction.denominator.__get__(value))
        if all(type(part) is int for part in parts):
            return ["F", hex(parts[0]), hex(parts[1])]
    return ["o", TYPE_NAME(kind)[:100]]


def loads(data):
    try:
        return decode(json.loads(data), 0)
    except Malformed:
        raise
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise Malformed(str(problem)) from None


def decode(tagged, depth):
    kind = type(tagged)
    if tagged is None or kind is bool or kind is str or kind is int:
        return tagged
    if kind is not list or not tagged or depth > DEEPEST + 1:
        raise Malformed("no tag")
    tag, *rest = tagged
    if tag in ("l", "t", "s", "z"):
        values = [decode(item, depth + 1) for item in rest]
        return values if tag == "l" else {"t": tuple, "s": set, "z": frozenset}[tag](values)
    if tag == "d":
        if len(rest) % 2:
            raise Malformed("a key without a value")
        keys = [decode(key, depth + 1) for key in rest[::2]]
        return dict(zip(keys, [decode(entry, depth + 1) for entry in rest[1::2]]))
    if not all(type(part) is str for part in rest):
        raise Malformed("a scalar that is not text")
    if tag == "i" and len(rest) == 1:
        return int(rest[0], 16)
    if tag == "f" and len(rest) == 1:
        return float(rest[0])
    if tag == "c" and len(rest) == 2:
        return complex(float(rest[0]), float(rest[1]))
    if tag == "b" and len(rest) == 1:
        return bytes.fromhex(rest[0])
    if tag == "D" and len(rest) == 1:
        from decimal import Decimal
        return Decimal(rest[0])
    if tag == "F" and len(rest) == 2:
        from fractions import Fraction
        return Fraction(int(rest[0], 16), int(rest[1], 16))
    if tag == "o" and len(rest) == 1:
        return Opaque(rest[0])
    raise Malformed("unknown tag")

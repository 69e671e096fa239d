"""What people and other programs hand in, checked before it is used: JSON, and its shape.

Shapes of data are declared once, as JSON Schema, in `manifests/inputs.json`; this module understands the
words of JSON Schema that stand there. Where a declaration has a `description`, errors say it as what was
expected.
The shape of a recipe's table is that of the dataclass which is made of it.
The other way round, `attributes` makes the JSON of a dataclass.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import repeat
from math import isinf
from pathlib import Path, PurePath
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import FormatError, UsageError
from .files import read_regular, utf8
from .resources import resource

MOST_DEPTH = 100
"""Lists and objects inside one another; deeper JSON would end in a RecursionError somewhere."""
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),),
    "array": (list, tuple), "object": (dict,),
}  # fmt: skip
Check = Callable[[Any], None]
Settings = TypeVar("Settings")
Key = TypeVar("Key")
Item = TypeVar("Item")


class _Misfit(Exception):
    """A value that does not fit; `path` leads to it from the value that was handed in."""

    def __init__(self, expected: str, found: Any, *path: str) -> None:
        self.expected, self.found, self.path = expected, found, list(path)


def require_text(words: Iterable[str], what: str, hint: str) -> None:
    """Raises FormatError: half a surrogate pair, which no file of text can hold; `what` begins the error."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError as error:
        found = f"half a surrogate pair, {error.object[error.start]!r}"
        raise FormatError(what, expected="whole characters", found=found, hint=hint) from error


def parse_json(text: str, place: str) -> Any:
    """The value of one JSON text. `place` (`file:line`) begins the error.

    Raises FormatError: not JSON, deeper than 100 levels, NaN or a number without end, a field given twice, or
    half a surrogate pair, which no file in UTF-8 can hold.
    """
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=once)
        if text.count("[") + text.count("{") > MOST_DEPTH:
            depth = 0
            for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', text):
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
                if depth > MOST_DEPTH:
                    raise ValueError(f"more than {MOST_DEPTH} lists and objects inside one another")
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeEncodeError as error:
        raise FormatError(f"{place}: a text holds half a surrogate pair", found=str(error)) from error
    except GivenTwice as error:
        raise FormatError(f"{place}: a field is given twice", expected="each once", found=error) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{place}: not valid JSON", found=str(error)[:200]) from error


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _finite(word: str) -> float:
    value = float(word)
    if isinf(value):
        raise ValueError(f"{word[:40]} is too large a number")
    return value


def together(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The second items by the first, both in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for key, item in pairs:
        found.setdefault(key, []).append(item)
    return found


class GivenTwice(ValueError):
    """The name of a field that an object has twice."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some fields, as `json` hands them over. Raises GivenTwice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        raise GivenTwice(repr(next(name for i, name in enumerate(names) if name in names[:i])))
    return value


def read_json(path: Path, most: int) -> Any:
    """The value of a JSON file of at most so many bytes.

    Raises SourceError: it cannot be read. FormatError: as `utf8` and `parse_json`.
    """
    return parse_json(utf8(read_regular(path, most), path), str(path))


def check(value: Any, shape: str, place: str, error: Callable[..., Exception] = FormatError) -> None:
    """Compare a value with a declared shape.

    Raises error: names the place, the field, what is expected there and what was found.
    """
    try:
        _check_of(shape)(value)
    except _Misfit as misfit:
        raise _told(misfit, place, error) from None


def _told(misfit: _Misfit, place: str, error: Callable[..., Exception]) -> Exception:
    what = " ".join(filter(None, (f"{place}:", ".".join(misfit.path)[:120], "cannot be used")))
    return error(what, expected=misfit.expected, found=shortened(misfit.found))


def settings_of(kind: type[Settings], table: Mapping[str, Any], place: str) -> Settings:
    """A dataclass made from a table of a recipe: its fields and their types are the declaration.

    A field that is a dataclass itself takes its own fields out of the same table.

    Raises UsageError: an unknown name, or a value of another type.
    """
    inner = {name: hint for name, hint in get_type_hints(kind).items() if is_dataclass(hint)}
    flat = {name: hint for owner in (kind, *inner.values()) for name, hint in get_type_hints(owner).items()}
    properties = {name: _schema_of(hint) for name, hint in flat.items() if name not in inner}
    try:
        _compiled({"type": "object", "properties": properties, "additionalProperties": False})(table)
    except _Misfit as misfit:
        raise _told(misfit, place, UsageError) from None
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}

    def part(owner: Any) -> Any:
        needed = [f.name for f in fields(owner) if f.default is f.default_factory is MISSING]
        if missing := [name for name in needed if name not in values]:
            raise UsageError(f"{place}: {missing[0]} is missing", expected=", ".join(needed), found=table)
        return owner(**{f.name: values[f.name] for f in fields(owner) if f.name in values})

    values |= {name: part(hint) for name, hint in inner.items()}
    made: Settings = part(kind)
    return made


def attributes(thing: Any, names: str = "") -> dict[str, Any]:
    """Some attributes of a thing by name, all fields of a dataclass without names, as JSON can hold them."""
    wanted = names.split() or [field.name for field in fields(thing)]
    return {name: plain(getattr(thing, name)) for name in wanted}


class AsFields:
    """A dataclass whose `to_dict` holds all of its fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        return attributes(self)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: a path as text, a tuple as a list, what has a `to_dict` as that says, and
    another dataclass by its fields."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return attributes(value)
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, PurePath) else value


def made_of(kind: Any, value: Any) -> Any:
    """What `plain` made of a value of this type, as it was: dataclasses, tuples, mappings and paths in one
    another. Of a dataclass its own fields are read, whatever else stands there."""
    inside = get_args(kind)
    if type(None) in inside:  # X | None
        return None if value is None else made_of(inside[0], value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {name: made_of(hint, value[name]) for name, hint in hints.items() if name in value}
        return kind(**known)  # type: ignore[operator]
    if get_origin(kind) is Mapping:
        return {key: made_of(inside[1], one) for key, one in value.items()}
    if get_origin(kind) is tuple:
        kinds = repeat(inside[0]) if inside[-1] is ... else inside
        return tuple(map(made_of, kinds, value))
    if kind is Path:
        return Path(value)
    return kind(*value) if isinstance(kind, type) and issubclass(kind, tuple) else value


def _schema_of(hint: Any) -> dict[str, Any]:
    if types := [name for name, kinds in _TYPES.items() if kinds[-1] is hint and name != "array"]:
        return {"type": types[-1]}
    inside = get_args(hint)
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _schema_of(inside[0])}
    if type(None) in inside:
        return {"type": ["null", *(_schema_of(one)["type"] for one in inside if one is not type(None))]}
    return {"type": "object"}


def shortened(value: Any, most: int = 80) -> str:
    """A value for an error message."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} letters)"


@cache
def _declared() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resource("manifests", "inputs.json").read_text(encoding="utf-8"))
    return dict(found["$defs"])


@cache
def _check_of(shape: str) -> Check:
    return _compiled(_declared()[shape])


def _compiled(schema: Mapping[str, Any]) -> Check:
    """A function that raises _Misfit for values that the schema refuses."""
    if "$ref" in schema:
        return _check_of(schema["$ref"].removeprefix("#/$defs/"))
    checks = [make(schema) for words, make in _MAKERS if any(word in schema for word in words)]
    told = schema.get("description")

    def run(value: Any) -> None:
        try:
            for one in checks:
                one(value)
        except _Misfit as misfit:
            # A fault of the value itself is told in the words of its declaration.
            if told and not misfit.path:
                misfit.expected = told
            raise

    return checks[0] if len(checks) == 1 and not told else run


def _of_type(schema: Mapping[str, Any]) -> Check:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    allowed = tuple(t for name in names for t in _TYPES[name])
    expected = " or ".join(names)

    def run(value: Any) -> None:
        if type(value) not in allowed:
            raise _Misfit(expected, value)

    return run


def _single(schema: Mapping[str, Any]) -> Check:
    """Of a value without parts: which values, texts of which length and form, numbers from where to where."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    short, long = schema.get("minLength", 0), schema.get("maxLength", float("inf"))
    pattern = re.compile(schema.get("pattern", ""))
    least, most = schema.get("minimum", float("-inf")), schema.get("maximum", float("inf"))
    bounded = "minimum" in schema or "maximum" in schema

    def run(value: Any) -> None:
        if allowed and not any(type(value) is type(one) and value == one for one in allowed):
            raise _Misfit(", ".join(map(str, allowed)), value)
        if isinstance(value, str) and not (short <= len(value) <= long and pattern.search(value)):
            raise _Misfit(f"a text of {short} to {long} letters like {pattern.pattern}", value)
        if bounded and type(value) in (int, float) and not least <= value <= most:
            raise _Misfit(f"a number from {least} to {most}", value)

    return run


def _list(schema: Mapping[str, Any]) -> Check:
    least, most = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
    first = [_compiled(item) for item in schema.get("prefixItems", ())]
    rest = _compiled(schema.get("items", {}))

    def run(value: Any) -> None:
        if not isinstance(value, list | tuple):
            return
        if not least <= len(value) <= most:
            raise _Misfit(f"a list of {least} to {most}", value)
        for number, item in enumerate(value):
            try:
                (first[number] if number < len(first) else rest)(item)
            except _Misfit as misfit:
                misfit.path.insert(0, str(number))
                raise

    return run


def _object(schema: Mapping[str, Any]) -> Check:
    needed = tuple(schema.get("required", ()))
    known = {name: _compiled(item) for name, item in schema.get("properties", {}).items()}
    others = schema.get("additionalProperties", {})
    other = _compiled(others) if isinstance(others, dict) else None

    def run(value: Any) -> None:
        if not isinstance(value, dict):
            return
        for name in needed:
            if name not in value:
                raise _Misfit(f"a field {name!r}", ", ".join(map(str, value)) or "no field", name)
        for name, item in value.items():
            one = known.get(name, other)
            try:
                if one is None:
                    raise _Misfit(f"one of {', '.join(known)}", name)
                one(item)
            except _Misfit as misfit:
                misfit.path.insert(0, str(name))
                raise

    return run


def _conditions(schema: Mapping[str, Any]) -> Check:
    rules = (one for one in (schema, *schema.get("allOf", ())) if "if" in one)
    pairs = [(_compiled(one["if"]), _compiled(one["then"])) for one in rules]

    def run(value: Any) -> None:
        for condition, then in pairs:
            try:
                condition(value)
            except _Misfit:
                continue
            then(value)

    return run


_MAKERS: tuple[tuple[tuple[str, ...], Callable[[Mapping[str, Any]], Check]], ...] = (
    (("type",), _of_type),
    (("enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum"), _single),
    (("items", "prefixItems", "minItems", "maxItems"), _list),
    (("required", "properties", "additionalProperties"), _object), (("if", "allOf"), _conditions),
)  # fmt: skip

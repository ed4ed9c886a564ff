"""What typed arguments become.

Typer builds a pydantic adapter for every parameter that isn't a flag, which costs each command 0.1 s of import. Our
parameters are text, whole numbers, paths and parsed values, so `PlainCoercion` reads them itself, by the same rules.
Never decides what a value means; that is the parser named in the parameter's declaration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin

import typer


class PlainCoercion:
    """Stands in for typer's own coercion of one parameter (`typer.core`, `get_runtime_param().coerce`)."""

    def coerce(self, value: Any, param: Any, ctx: typer.Context) -> Any:
        """The parameter's value, or a list of them. Raises typer.BadParameter."""
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        kind = param.type_descriptor.annotation
        if many:
            kind = get_args(kind)[0]
            return [_read(item, kind, param, ctx) for item in value]
        return _read(value, kind, param, ctx)


def read_plainly(params: list[Any]) -> list[Any]:
    """The parameters, each of a kind `PlainCoercion` reads with that coercion; the rest keep typer's."""
    plain = PlainCoercion()
    for param in params:
        descriptor = getattr(param, "type_descriptor", None)
        if descriptor is None:
            continue
        kind = descriptor.annotation
        if get_origin(kind) is list:
            kind = get_args(kind)[0]
        if descriptor.parameter_info.parser is not None or kind in (str, int, bool, Path):
            param.get_runtime_param = lambda: plain
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None  # help names an argument once, without "<list[str]>"
    return params


def _read(value: Any, kind: Any, param: Any, ctx: typer.Context) -> Any:
    parser = param.type_descriptor.parameter_info.parser
    try:
        if parser is not None:
            return parser(value)
        if kind is int:
            number = int(value)
            if (param.min is not None and number < param.min) or (param.max is not None and number > param.max):
                raise typer.BadParameter(f"{value} is out of range ({_range(param)})", ctx=ctx, param=param)
            return number
        return kind(value)
    except ValueError as error:
        said = f"{value!r} is not a whole number" if kind is int and parser is None else str(error)
        raise typer.BadParameter(said, ctx=ctx, param=param) from error


def _range(param: Any) -> str:
    if param.max is None:
        return f"{param.min} or more"
    return f"{param.min} to {param.max}"

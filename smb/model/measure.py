"""Values as compared: two writings of one value are equal, and two values know whether they are of one kind.

Owns units and what they are worth in each other, and the unit a column header or a key carries for its values. Never
decides what a difference means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from smb.model.identity import fold

_UNITS: dict[str, tuple[str, float]] = {
    unit: (kind, worth)
    for kind, units in {
        "length": {"mm": 0.001, "cm": 0.01, "m": 1, "km": 1000, "µm": 1e-6, "nm": 1e-9, "inches": 0.0254, "ft": 0.3048, "feet": 0.3048, "miles": 1609.344},
        "mass": {"mg": 1e-6, "g": 0.001, "kg": 1, "t": 1000, "grams": 0.001, "gram": 0.001, "tonnes": 1000, "lb": 0.45359237, "lbs": 0.45359237, "oz": 0.028349523125},
        "time": {"ns": 1e-9, "µs": 1e-6, "ms": 0.001, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "min": 60, "mins": 60, "minute": 60,
                 "minutes": 60, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "秒": 1, "分": 60, "分钟": 60, "時間": 3600, "小时": 3600,
                 "day": 86400, "days": 86400, "d": 86400, "日": 86400, "天": 86400, "week": 604800, "weeks": 604800},
        "volume": {"ml": 0.001, "cl": 0.01, "dl": 0.1, "l": 1, "L": 1, "litre": 1, "litres": 1, "liter": 1, "liters": 1, "m³": 1000},
        "area": {"m²": 1, "km²": 1e6},
        "power": {"W": 1, "watt": 1, "watts": 1, "kW": 1000, "MW": 1e6, "GW": 1e9},
        "energy": {"Wh": 1, "kWh": 1000, "MWh": 1e6, "GWh": 1e9},
        "current": {"mA": 0.001, "A": 1},
        "voltage": {"mV": 0.001, "V": 1, "volts": 1, "kV": 1000},
        "frequency": {"Hz": 1, "kHz": 1000, "MHz": 1e6, "GHz": 1e9},
        "pressure": {"Pa": 1, "hPa": 100, "kPa": 1000, "bar": 1e5},
        "data": {"B": 1, "byte": 1, "bytes": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3},
        "share": {"%": 1, "percent": 1, "per cent": 1, "％": 1, "‰": 0.1},
        "temperature": {"°C": 1, "°c": 1, "℃": 1, "度": 1},
        "°F": {"°F": 1}, "K": {"K": 1}, "resistance": {"Ω": 1, "kΩ": 1000},
        "EUR": {"€": 1, "EUR": 1, "euros": 1, "euro": 1, "ユーロ": 1, "欧元": 1}, "USD": {"$": 1, "USD": 1, "dollars": 1, "ドル": 1, "美元": 1},
        "GBP": {"£": 1, "GBP": 1, "pounds": 1}, "JPY": {"¥": 1, "JPY": 1, "yen": 1, "円": 1}, "CHF": {"CHF": 1}, "CNY": {"CNY": 1, "元": 1},
    }.items()
    for unit, worth in units.items()
}
_CURRENCY = "€$£¥"
_NUMBER = r"[-−]?\d+(?:[,  '’]\d{3})*(?:[.,]\d+)?"
_AMOUNT = re.compile(rf"(?:~|about |around |port )?(?P<before>[{_CURRENCY}])?\s?(?P<number>{_NUMBER})\s?(?P<unit>[^\s\d,;/()]*(?:\s?cent)?)(?P<per>\s?/\s?\w+)?\Z", re.I)
_QUALIFIED = re.compile(r"(?:,\s|\s?[(（;]).*\Z", re.S)
_UNIT_PART = rf"(?:{'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))}|[a-zµ°Ω]{{1,3}})"
_HEADED = re.compile(rf"\s*(?:[(\[（](?P<a>{_UNIT_PART}(?:\s?/\s?[\w°²³]+)?)[)\]）]|,\s(?:in\s)?(?P<b>{_UNIT_PART}(?:/\w+)?)|\sin\s(?P<c>{_UNIT_PART}(?:/\w+)?))\s*\Z")
_BARE_NUMBER = re.compile(rf"[~<>≤≥]?\s?{_NUMBER}(?:\s?[–-]\s?{_NUMBER})?\Z")


@dataclass(frozen=True, slots=True)
class Value:
    """`kind` is what it measures ("number" without a unit, "text" for words); equal values have equal `kind` and `form`."""

    kind: str
    form: str


def value_of(text: str) -> Value:
    """The value a text gives, whatever its unit, separators or a remark after it.

    >>> value_of("1,280 °C") == value_of("1280°C, three-phase") and value_of("1.5 kW") == value_of("1500 W")
    True
    """
    bare = _QUALIFIED.sub("", " ".join(text.split())).strip(" .。~") or text.strip()
    if (m := _AMOUNT.match(bare)) and (number := _number(m["number"])) is not None:
        unit = (m["before"] or m["unit"]).strip()
        if not unit:
            return Value("number", f"{number:.12g}")
        kind, worth = _UNITS.get(unit) or _UNITS.get(unit.lower()) or (fold(unit), 1.0)
        per = fold(m["per"].replace("/", "")) if m["per"] else ""
        return Value(f"{kind}/{per}" if per else kind, f"{number * worth:.12g}")
    return Value("text", fold(bare))


def without_unit(attribute: str) -> tuple[str, str]:
    """(attribute, unit) of a header or key that carries its unit, `Power (kW)`; ("…", "") for any other.

    >>> without_unit("Top temperature (°C)")
    ('Top temperature', '°C')
    """
    m = _HEADED.search(attribute)
    unit = (m["a"] or m["b"] or m["c"]).replace(" ", "") if m else ""
    if not m or not m.start() or not (unit.partition("/")[0] in _UNITS):
        return attribute, ""
    return attribute[: m.start()].rstrip(" ,"), unit


def with_unit(value: str, unit: str) -> str:
    """A bare figure with its unit; anything else, or a figure that has one, as it is."""
    if not unit or not _BARE_NUMBER.match(value):
        return value
    if unit[0] in _CURRENCY:
        return f"{unit[0]}{value}{unit[1:]}"
    return f"{value} {unit}"


def _number(text: str) -> float | None:
    """A written number; a comma groups thousands where three digits follow it, else it is a decimal point."""
    plain = re.sub(r"[  '’]|,(?=\d{3}(?:\D|\Z))", "", text).replace("−", "-").replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return None

"""The built-in units as plain tables: base dimensions, exact factors, other spellings."""

from __future__ import annotations

Dims = tuple[tuple[str, int], ...]

_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_COMPUTE = {**_DECIMAL, "Z": 10**21, "Y": 10**24}

BYTE: Dims = (("byte", 1),)
_BYTE_RATE: Dims = (("byte", 1), ("second", -1))
_FLOP: Dims = (("flop", 1),)
_FLOP_RATE: Dims = (("flop", 1), ("second", -1))
_SECOND: Dims = (("second", 1),)
_RATE: Dims = (("second", -1),)
_WATT: Dims = (("watt", 1),)
_ENERGY: Dims = (("second", 1), ("watt", 1))
_METRE: Dims = (("metre", 1),)

YEAR_SECONDS = 31_557_600  # 365.25 d; a month is a twelfth of it

# Built-in units: symbol -> (dimensions, mul, div). The whole table is compared with pint in the tests.
# Case carries meaning: B is a byte, b and bit are an eighth of one; K, M, G are powers of 1000, Ki, Mi, Gi of 1024.
FACTORS: dict[str, tuple[Dims, int, int]] = {
    **{f"{p}B": (BYTE, m, 1) for p, m in {**_DECIMAL, **_BINARY}.items()},
    **{f"{p}bit": (BYTE, m, 8) for p, m in _DECIMAL.items()},
    **{f"{p}bps": (_BYTE_RATE, m, 8) for p, m in _DECIMAL.items()},
    **{f"{p}FLOP": (_FLOP, m, 1) for p, m in _COMPUTE.items()},
    **{f"{p}FLOPS": (_FLOP_RATE, m, 1) for p, m in _COMPUTE.items()},
    "ns": (_SECOND, 1, 10**9),
    "us": (_SECOND, 1, 10**6),
    "ms": (_SECOND, 1, 10**3),
    "s": (_SECOND, 1, 1),
    "min": (_SECOND, 60, 1),
    "h": (_SECOND, 3600, 1),
    "d": (_SECOND, 86_400, 1),
    "week": (_SECOND, 604_800, 1),
    "month": (_SECOND, YEAR_SECONDS // 12, 1),
    "year": (_SECOND, YEAR_SECONDS, 1),
    "Hz": (_RATE, 1, 1),
    "kHz": (_RATE, 10**3, 1),
    "MHz": (_RATE, 10**6, 1),
    "GHz": (_RATE, 10**9, 1),
    "IOPS": (_RATE, 1, 1),
    "W": (_WATT, 1, 1),
    "kW": (_WATT, 10**3, 1),
    "MW": (_WATT, 10**6, 1),
    "Wh": (_ENERGY, 3600, 1),
    "kWh": (_ENERGY, 3600 * 10**3, 1),
    "MWh": (_ENERGY, 3600 * 10**6, 1),
    "mm": (_METRE, 1, 10**3),
    "cm": (_METRE, 1, 10**2),
    "m": (_METRE, 1, 1),
    "km": (_METRE, 10**3, 1),
    "kg": ((("kilogram", 1),), 1, 1),
    "percent": ((), 1, 100),
}

# Counting units that every table knows: an input/output operation (so IOPS is IO/s) and a rack unit.
BUILTIN_COUNTS = ("IO", "U")
COUNT_OF = {"IOPS": "IO"}

# Other spellings; both signs for micro, U+00B5 and U+03BC. A lone b is left out: too easily meant as B.
_SPELLINGS = {
    "percent": "%",
    "KB": "kB",
    "Kbit": "kbit",
    "Kbps": "kbps",
    "us": "µs μs",
    "s": "sec second seconds 秒",
    "min": "minute minutes 分钟",
    "h": "hour hours 小时",
    "d": "day days 天",
    "week": "weeks 周",
    "month": "months 月 个月",
    "year": "years 年",
}
ALIASES: dict[str, str] = {f"{p}b": f"{p}bit" for p in _DECIMAL if p} | {
    alias: name for name, aliases in _SPELLINGS.items() for alias in aliases.split()
}

"""Units against pint, and against figures worked by hand."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert.physical import ALIASES, BUILTIN_COUNTS, FACTORS
from expert.units import PHYSICAL, PLAIN, Unit, UnitError, UnitTable, convert, round12

TABLE = (
    UnitTable.standard()
    .with_counts(["gpu", "token", "port", "param", "node"])
    .with_currencies({"CNY": (1, 1), "USD": (71, 10)})  # 7.1 CNY to the dollar
)

# pint's own name where its symbol differs or means something else there (b is a barn, h is Planck's, U is missing).
PINT_NAMES = {"h": "hour", "d": "day", "kg": "kilogram", "percent": "percent", "min": "minute", "m": "metre", "bps": "bit/second"}
PINT_DIMS = {"metre": "metre", "watt": "watt", "byte": "byte", "second": "second", "flop": "flop", "kilogram": "kilogram"}


def _registry() -> pint.UnitRegistry[Fraction]:
    registry: pint.UnitRegistry[Fraction] = pint.UnitRegistry(non_int_type=Fraction)
    registry.define("flop = [computation] = FLOP")  # what pint has no notion of
    registry.define("FLOPS = flop / second")
    registry.define("bps = bit / second")
    registry.define("IOPS = 1 / second")
    return registry


def _pint_name(symbol: str) -> str:
    named = PINT_NAMES.get(symbol, symbol)
    return "k" + named[1:] if symbol[0] == "K" and symbol[1] != "i" else named  # SI writes kilo small


def _pint_base(unit: Unit) -> str:
    return "*".join(f"{PINT_DIMS[name]}**({power})" for name, power in unit.dims) or "dimensionless"


REGISTRY = _registry()


@pytest.mark.parametrize("symbol", sorted(FACTORS))
def test_every_built_in_unit_is_what_pint_says(symbol: str) -> None:
    unit = PHYSICAL[symbol]
    theirs = REGISTRY.Quantity(Fraction(1), _pint_name(symbol)).to(_pint_base(unit)).magnitude
    assert Fraction(theirs) == Fraction(unit.mul, unit.div)


@pytest.mark.parametrize(
    ("text", "theirs"),
    [
        ("GB/s", "gigabyte / second"),
        ("Gbit/h", "gigabit / hour"),
        ("TFLOPS/W", "teraFLOPS / watt"),
        ("GiB/min", "gibibyte / minute"),
        ("percent/year", "percent / year"),
        ("Wh/month", "watt * hour / month"),
        ("GB/kWh", "gigabyte / (kilowatt * hour)"),
    ],
)
def test_quotients_are_what_pint_says(text: str, theirs: str) -> None:
    unit = TABLE.parse(text)
    assert Fraction(REGISTRY.Quantity(Fraction(1), theirs).to(_pint_base(unit)).magnitude) == Fraction(unit.mul, unit.div)


def test_every_alias_names_a_built_in_unit_and_hides_none() -> None:
    assert set(ALIASES.values()) <= set(FACTORS)
    assert not set(ALIASES) & set(FACTORS)
    assert not set(BUILTIN_COUNTS) & (set(ALIASES) | set(FACTORS))


def test_values_in_base_units_are_correctly_rounded() -> None:
    assert TABLE.parse("Gbps").to_base(400) == 50_000_000_000  # 400e9 bits / 8
    assert TABLE.parse("percent").to_base(5) == 0.05
    assert TABLE.parse("percent").to_base(7) == 0.07  # 7 * 0.01 is 0.07000000000000001
    assert TABLE.parse("GiB").to_base(80) == 85_899_345_920  # 80 * 1073741824
    assert TABLE.parse("us").to_base(3) == 3e-6
    assert TABLE.parse("month").to_base(1) == 2_629_800  # 365.25 * 86400 / 12
    assert TABLE.parse("USD/h").to_base(36) == 0.071  # 36 * 7.1 / 3600


def test_bits_and_bytes_and_decimal_and_binary_are_told_apart() -> None:
    in_bytes = {text: TABLE.parse(text).to_base(1) for text in ("Gb", "Gbit", "GB", "GiB", "Kbit", "KB", "KiB")}
    assert in_bytes == {"Gb": 1.25e8, "Gbit": 1.25e8, "GB": 1e9, "GiB": 1_073_741_824, "Kbit": 125, "KB": 1000, "KiB": 1024}


@pytest.mark.parametrize(
    ("text", "normal", "dims", "count", "per"),
    [
        ("GB / s", "GB/s", {"byte": 1, "second": -1}, None, ()),
        (" GB/s/gpu ", "GB/s/gpu", {"byte": 1, "second": -1}, None, ("gpu",)),
        ("GB/gpu/s", "GB/gpu/s", {"byte": 1, "second": -1}, None, ("gpu",)),
        ("Gbps/port", "Gbps/port", {"byte": 1, "second": -1}, None, ("port",)),
        ("CNY/GB/month", "CNY/GB/month", {"byte": -1, "money": 1, "second": -1}, None, ()),
        ("token/second/gpu", "token/s/gpu", {"second": -1}, "token", ("gpu",)),
        ("B/port/node", "B/port/node", {"byte": 1}, None, ("node", "port")),
        ("IOPS", "IOPS", {"second": -1}, "IO", ()),
        ("IO/s", "IO/s", {"second": -1}, "IO", ()),
        ("gpu", "gpu", {}, "gpu", ()),
        ("µs", "us", {"second": 1}, None, ()),
        ("GB/s/s", "GB/s/s", {"byte": 1, "second": -2}, None, ()),
        ("GB/MB", "GB/MB", {}, None, ()),
        ("天", "d", {"second": 1}, None, ()),
    ],
)
def test_a_unit_is_taken_apart(text: str, normal: str, dims: dict[str, int], count: str | None, per: tuple[str, ...]) -> None:
    unit = TABLE.parse(text)
    assert (unit.text, dict(unit.dims), unit.count, unit.per) == (normal, dims, count, per)
    assert list(unit.dims) == sorted(unit.dims)


def test_blank_text_is_the_plain_number_and_percent_is_marked() -> None:
    assert TABLE.parse("") == TABLE.parse("  ") == PLAIN
    assert TABLE.parse("%").percent
    assert TABLE.parse("%").text == "percent"
    assert not TABLE.parse("gpu").percent


def test_same_dimension_looks_at_neither_counts_nor_per_parts() -> None:
    assert TABLE.parse("Gbps/port").same_dimension(TABLE.parse("GB/s"))
    assert TABLE.parse("USD/h").same_dimension(TABLE.parse("CNY/month"))
    assert TABLE.parse("gpu").same_dimension(TABLE.parse("percent"))
    assert not TABLE.parse("GB").same_dimension(TABLE.parse("GB/s"))
    assert not TABLE.parse("FLOPS").same_dimension(TABLE.parse("Hz"))


@pytest.mark.parametrize(
    ("text", "bad", "offset", "suggestion"),
    [
        ("GBs", "GBs", 0, "GB/s"),
        ("gb/s", "gb", 0, "GB/s"),
        ("gbps", "gbps", 0, "Gbps"),
        ("GBps", "GBps", 0, "GB/s"),  # bytes, as written, and not the Gbps that differs in case alone
        ("MiBps/gpu", "MiBps", 0, "MiB/s/gpu"),
        ("tflops", "tflops", 0, "TFLOPS"),
        ("GB/s/gpus", "gpus", 5, "GB/s/gpu"),
        ("GB / Sec", "Sec", 5, "GB/s"),
        ("tokens/secs", "tokens", 0, "token/s"),
        ("cny/mnth", "cny", 0, "CNY/month"),
        ("GB//s", "", 3, "GB/s"),
        ("GB/", "", 3, "GB"),
        ("/s", "", 0, None),
        ("xyzzy", "xyzzy", 0, None),
        ("gpu/gpu", "gpu", 4, None),
        ("GB/gpu/gpu", "gpu", 7, None),
        ("GB/%", "%", 3, None),
        ("b", "b", 0, "B"),
    ],
)
def test_a_mistake_has_its_place_and_a_suggestion(text: str, bad: str, offset: int, suggestion: str | None) -> None:
    with pytest.raises(UnitError) as caught:
        TABLE.parse(text)
    error = caught.value
    assert (error.text, error.bad, error.offset, error.suggestion) == (text, bad, offset, suggestion)
    assert error.message.en
    assert error.message.zh
    assert bool(error.help) is (suggestion is not None)
    if suggestion is not None:
        assert suggestion in error.help.en
        assert TABLE.parse(suggestion).text == suggestion


def test_an_error_survives_the_way_out_of_a_child_process() -> None:
    with pytest.raises(UnitError) as caught:
        TABLE.parse("GBs")
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (copy.bad, copy.suggestion, str(copy)) == ("GBs", "GB/s", "'GBs' is not a unit")


def test_an_endless_unit_is_refused() -> None:
    with pytest.raises(UnitError, match="never that long"):
        TABLE.parse("GB" + "/s" * 100_000)


def test_counting_units_are_exactly_the_names_given() -> None:
    assert TABLE.parse("token").count == "token"
    for text in ("GPU", "tokens", "image"):
        with pytest.raises(UnitError):
            TABLE.parse(text)
    with pytest.raises(UnitError):
        UnitTable.standard().parse("gpu")


@pytest.mark.parametrize("name", ["GB", "min", "hour", "%", "in", "CNY", "not a name", "1st", "", "a/b"])
def test_a_name_that_is_taken_or_no_name_is_refused(name: str) -> None:
    with pytest.raises(UnitError):
        TABLE.with_counts([name])
    with pytest.raises(UnitError):
        TABLE.with_currencies({"CNY": (1, 1)}).with_currencies({name if name != "CNY" else "gpu": (1, 1)})


def test_tables_with_the_same_units_are_equal_and_rates_replace_one_another() -> None:
    again = UnitTable.standard().with_currencies({"USD": (71, 10), "CNY": (1, 1)}).with_counts(["node", "param", "port", "token", "gpu"])
    assert again == TABLE
    assert hash(again) == hash(TABLE)
    dearer = TABLE.with_currencies({"USD": (8, 1)})
    assert dearer.parse("USD").to_base(1) == 8
    assert TABLE.parse("USD").to_base(1) == 7.1
    with pytest.raises(UnitError):
        dearer.parse("CNY")
    with pytest.raises(ValueError, match="not positive"):
        TABLE.with_currencies({"USD": (0, 1)})


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("300 GB/s * 2", 4, ("GB/s", 8)),
        ("300 GB / s / gpu", 4, ("GB/s/gpu", 16)),
        ("10 GB / min(a, b)", 3, ("GB", 5)),
        ("10 GB / token.size", 3, ("GB", 5)),
        ("10 GB / 8", 3, ("GB", 5)),
        ("10 GB / size", 3, ("GB", 5)),
        ("50 % / 2", 3, ("percent", 4)),
        ("5 in [1, 2]", 2, None),
        ("5 min (x)", 2, None),
    ],
)
def test_scan_takes_the_longest_unit(text: str, start: int, expected: tuple[str, int] | None) -> None:
    found = TABLE.scan(text, start)
    assert (None if found is None else (found[0].text, found[1])) == expected


def test_parse_is_memoised_and_the_memo_is_bounded() -> None:
    table = UnitTable.standard()
    assert table.parse("GB/s") is table.parse("GB/s")
    spellings = [f"{' ' * a}GB{' ' * b}/{' ' * c}s" for a in range(18) for b in range(18) for c in range(18)]
    assert len(set(spellings)) == 5832
    assert {table.parse(text).text for text in spellings} == {"GB/s"}
    assert len(table._memo) <= 4096


EVERY_UNIT = sorted({**PHYSICAL, **{name: TABLE.parse(name) for name in ("gpu", "CNY", "USD", "USD/GB/month", "GB/s/gpu")}})


@given(st.sampled_from(EVERY_UNIT), st.floats(min_value=1e-200, max_value=1e200), st.booleans())
def test_base_and_back_is_the_same_number(name: str, magnitude: float, negative: bool) -> None:
    unit = TABLE.parse(name)
    x = -magnitude if negative else magnitude
    assert abs(unit.from_base(unit.to_base(x)) - x) <= 1e-11 * abs(x)


@given(st.sampled_from(EVERY_UNIT), st.floats(min_value=-1e100, max_value=1e100))
def test_to_base_is_the_exact_product_rounded_once(name: str, x: float) -> None:
    unit = TABLE.parse(name)
    assert unit.to_base(x) == float(Fraction(x) * unit.mul / unit.div)


@given(st.floats(min_value=1e-290, max_value=1e290))
def test_round12_keeps_twelve_digits_and_repeats_itself(x: float) -> None:
    rounded = round12(x)
    assert abs(Fraction(rounded) - Fraction(x)) <= Fraction(x) * Fraction(6, 10**12)  # half of the twelfth digit, and a float's own error
    assert round12(rounded) == rounded


def test_round12_on_figures_worked_by_hand() -> None:
    assert round12(0.1 + 0.2) == 0.3
    assert round12(1.23456789012349) == 1.23456789012
    assert round12(1.234567890126) == 1.23456789013
    assert round12(9007199254740991.0) == 9007199254740991  # 2**53 - 1, a whole number
    assert round12(123456789012345.6) == 123456789012000
    assert round12(float("inf")) == float("inf")
    assert isinstance(round12(3), float)


def test_convert_goes_straight_and_refuses_another_dimension() -> None:
    assert convert(400, TABLE.parse("Gbps"), TABLE.parse("GB/s")) == 50
    assert convert(1, TABLE.parse("year"), TABLE.parse("month")) == 12
    assert convert(0.1, TABLE.parse("TB"), TABLE.parse("GB")) == 100
    with pytest.raises(ValueError, match="does not convert"):
        convert(1, TABLE.parse("GB"), TABLE.parse("s"))


def test_what_is_too_large_for_a_float_becomes_infinite() -> None:
    assert TABLE.parse("EB").to_base(1e300) == float("inf")
    assert TABLE.parse("EB").to_base(-1e300) == float("-inf")


def test_importing_takes_less_than_five_milliseconds() -> None:
    program = (
        "import dataclasses, difflib, expert.errors, time\n"
        "start = time.process_time()\nimport expert.units, expert.quantities\nprint(time.process_time() - start)"
    )
    times = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    # Without bytecode on disk the figure is that of the compiler, some 10 ms more.
    assert min(times) < (0.025 if sys.dont_write_bytecode else 0.005)

"""Numbers with units: reading, writing back, printing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert.errors import Text
from expert.quantities import Quantity, QuantityError, format_number, format_quantity, parse_quantity, write_quantity
from expert.units import PHYSICAL, UnitTable

TABLE = UnitTable.standard().with_counts(["gpu", "token", "port", "box"]).with_currencies({"CNY": (1, 1), "USD": (71, 10)})
NAMES = {"gpu": Text("GPU", "卡"), "box": Text("box|boxes", "箱")}


@pytest.mark.parametrize(
    ("text", "low", "typical", "high", "unit"),
    [
        ("400 Gbps", 400, None, 400, "Gbps"),
        ("50GB/s", 50, None, 50, "GB/s"),
        ("10 min", 10, None, 10, "min"),
        ("1e3 GB", 1000, None, 1000, "GB"),
        ("3.2 Tb/s", 3.2, None, 3.2, "Tbit/s"),
        ("5..15 %", 5, None, 15, "percent"),
        ("0.02 %", 0.02, None, 0.02, "percent"),
        ("80000..95000..120000 CNY/month", 80000, 95000, 120000, "CNY/month"),
        ("1.5..2.5", 1.5, None, 2.5, None),
        (" -3 .. -1 ", -3, None, -1, None),
        ("+2E-3 s", 0.002, None, 0.002, "s"),
        ("5EB", 5, None, 5, "EB"),
        ("32", 32, None, 32, None),
        ("0 gpu", 0, None, 0, "gpu"),
        ("10分钟", 10, None, 10, "min"),
    ],
)
def test_a_quantity_is_read(text: str, low: float, typical: float | None, high: float, unit: str | None) -> None:
    found = parse_quantity(text, TABLE)
    assert (found.low, found.typical, found.high, None if found.unit is None else found.unit.text) == (low, typical, high, unit)


def test_a_percentage_counts_as_its_hundredth_at_both_ends() -> None:
    found = parse_quantity("5..15 %", TABLE)
    assert found.unit is not None
    assert (found.unit.to_base(found.low), found.unit.to_base(found.high)) == (0.05, 0.15)


@pytest.mark.parametrize(
    ("text", "bad", "offset", "suggestion"),
    [
        ("nan", "nan", 0, None),
        ("inf GB", "inf", 0, None),
        ("1e400", "1e400", 0, None),
        ("1e-400 s", "1e-400", 0, None),
        ("1e300 EB", "1e300 EB", 0, None),
        ("9" * 41, "9" * 41, 0, None),
        ("15..5 %", "5", 4, None),
        ("1..3..2", "2", 6, None),
        ("1..2..3..4", "4", 9, None),
        ("1,000 gpu", "1,000", 0, "1000 gpu"),
        ("1_000", "1_000", 0, "1000"),
        ("1,5 s", "1,5", 0, None),  # half the world means 1.5
        ("5-15 %", "-15 %", 1, "5..15 %"),
        ("5 – 15 gbps", "– 15 gbps", 2, "5..15 Gbps"),
        ("5 GB..10 GB", "GB..10 GB", 2, "5..10 GB"),
        ("400 gbps", "gbps", 4, "400 Gbps"),
        ("2 GB/s/gpus", "gpus", 7, "2 GB/s/gpu"),
        ("5..", "", 3, None),
        ("..5", "..5", 0, None),
        (".5", ".5", 0, None),
        ("1.5.2", "1.5.2", 0, None),
        ("", "", 0, None),
        ("GB", "GB", 0, None),
        ("４００", "４００", 0, None),
        ("1 " + "x" * 300, "x" * 102, 200, None),
    ],
)
def test_a_mistake_has_its_place_and_a_suggestion(text: str, bad: str, offset: int, suggestion: str | None) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text, TABLE)
    error = caught.value
    assert (error.text, error.bad, error.offset, error.suggestion) == (text, bad, offset, suggestion)
    assert text[offset : offset + len(bad)] == bad
    assert error.message.en
    assert error.message.zh
    if suggestion is not None:
        assert write_quantity(parse_quantity(suggestion, TABLE)) == suggestion


@given(st.text(max_size=250))
def test_any_text_is_a_quantity_or_a_quantity_error(text: str) -> None:
    outcome: Quantity | QuantityError
    try:
        outcome = parse_quantity(text, TABLE)
    except QuantityError as error:
        outcome = error
    assert outcome.low <= outcome.high if isinstance(outcome, Quantity) else 0 <= outcome.offset <= len(text)


NUMBERS = st.floats(min_value=-1e100, max_value=1e100).filter(lambda x: x == 0 or abs(x) > 1e-300)
UNITS = st.sampled_from([None, *sorted(PHYSICAL), "gpu", "CNY/GB/month", "GB/s/gpu", "token/s", "USD/h"])


@given(st.lists(NUMBERS, min_size=1, max_size=3).map(sorted), UNITS)
def test_what_is_written_reads_back_the_same(ends: list[float], unit: str | None) -> None:
    quantity = Quantity(ends[0], ends[1] if len(ends) == 3 else None, ends[-1], None if unit is None else TABLE.parse(unit))
    assert parse_quantity(write_quantity(quantity), TABLE) == quantity


@given(st.floats(min_value=1e-3, max_value=1e9), UNITS, st.sampled_from(["en", "zh"]))
def test_what_is_printed_reads_back_to_three_digits(x: float, name: str | None, lang: str) -> None:
    unit = None if name is None else TABLE.parse(name)
    found = parse_quantity(format_quantity(x, None, x, unit, lang).replace(",", ""), TABLE)
    assert (unit is None) == (found.unit is None)
    base = x if unit is None else unit.to_base(x)
    printed = found.low if found.unit is None else found.unit.to_base(found.low)
    assert abs(printed - base) <= 0.00501 * abs(base)  # half of the third digit of 100


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0, "0"),
        (-0.0, "0"),
        (5, "5"),
        (1240, "1240"),
        (9999, "9999"),
        (10000, "10,000"),
        (-123456, "-123,456"),
        (999_999_999_999_999, "999,999,999,999,999"),
        (0.0333, "0.0333"),
        (0.033333, "0.0333"),
        (0.00012345, "0.000123"),
        (0.0000123, "1.23e-5"),
        (2.4000001, "2.4"),
        (2.996, "3"),
        (99.96, "100"),
        (9.996, "10"),
        (0.09996, "0.1"),
        (1234.5, "1230"),
        (9996.5, "10,000"),
        (123456.7, "123,000"),
        (1e15, "1e15"),
        (1.2345e24, "1.23e24"),
        (-0.5, "-0.5"),
    ],
)
def test_a_number_is_printed_for_people(x: float, expected: str) -> None:
    assert format_number(x) == expected
    assert format_number(x, lang="zh") == expected


def test_digits_may_be_asked_for_and_the_infinite_has_words() -> None:
    assert format_number(3.14159, digits=5) == "3.1416"
    assert format_number(3.14159, digits=1) == "3"
    assert format_number(float("inf")) == "unbounded"
    assert format_number(float("inf"), lang="zh") == "无上限"


@pytest.mark.parametrize(
    ("text", "english", "chinese"),
    [
        ("1.92..2.4 GB/s", "1.92–2.4 GB/s", "1.92–2.4 GB/s"),
        ("5 %", "5 %", "5 %"),
        ("5..15 %", "5–15 %", "5–15 %"),
        ("0.002 %", "0.002 %", "0.002 %"),  # a percentage keeps its scale
        ("0.0005 s", "500 µs", "500 µs"),
        ("0.005 s", "5 ms", "5 ms"),
        ("0.01 s", "0.01 s", "0.01 s"),
        ("20000 GB", "20 TB", "20 TB"),
        ("9999 GB", "9999 GB", "9999 GB"),
        ("10000 GB", "10 TB", "10 TB"),
        ("20480 GiB", "20 TiB", "20 TiB"),
        ("20000 GB/s/gpu", "20 TB/s/GPU", "20 TB/s/卡"),
        ("0.002 GB/s", "2 MB/s", "2 MB/s"),
        ("86400 s", "1 day", "1 天"),
        ("100000 min", "69.4 days", "69.4 天"),  # 100000 / 1440 = 69.44
        ("0.001..0.5 s", "0.001–0.5 s", "0.001–0.5 s"),  # the farther end decides
        ("500..20000 MB", "0.5–20 GB", "0.5–20 GB"),
        ("1 d", "1 day", "1 天"),
        ("60 d", "60 days", "60 天"),
        ("1..2 month", "1–2 months", "1–2 个月"),
        ("20000 CNY/month", "20,000 CNY/month", "20,000 CNY/月"),
        ("80000..95000..120000 CNY/month", "80,000–120,000 CNY/month, typically 95,000", "80,000–120,000 CNY/月，典型值 95,000"),
        ("32 gpu", "32 GPUs", "32 卡"),
        ("1 gpu", "1 GPU", "1 卡"),
        ("3 box", "3 boxes", "3 箱"),
        ("1 box", "1 box", "1 箱"),
        ("20000 token", "20,000 token", "20,000 token"),
        ("-3..-1 h", "-3 – -1 h", "-3 – -1 小时"),
        ("2.4001..2.4002 s", "2.4 s", "2.4 s"),
        ("7", "7", "7"),
    ],
)
def test_a_quantity_is_printed_for_people(text: str, english: str, chinese: str) -> None:
    q = parse_quantity(text, TABLE)
    assert format_quantity(q.low, q.typical, q.high, q.unit, "en", NAMES) == english
    assert format_quantity(q.low, q.typical, q.high, q.unit, "zh", NAMES) == chinese

"""Numbers with their units, dates, times and versions of a text, each in one spelling.

Two texts give the same value for the same amount however it is written: ``90 s`` is ``1.5 min``,
``1,000`` is ``1000``, ``6:30 am`` is ``06:30``, ``4 March 2026`` is ``2026-03-04``. What could mean
two things stays as it is written, so that it is equal to itself alone.
"""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["read_quantities", "shown"]

_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86400
_UNITS: dict[str, tuple[str, str]] = {}


def _unit(kind: str, factor: str, spellings: str) -> None:
    _UNITS.update(dict.fromkeys(spellings.split(), (kind, factor)))


_unit("s", "0.000000001", "ns nanosecond nanoseconds")
_unit("s", "0.000001", "us µs microsecond microseconds")
_unit("s", "0.001", "ms msec millisecond milliseconds millis")
_unit("s", "1", "s sec secs second seconds")
_unit("s", "60", "m min mins minute minutes")
_unit("s", "3600", "h hr hrs hour hours")
_unit("s", "86400", "d day days")
_unit("s", "604800", "w week weeks wk wks")
_unit("months", "1", "month months mo")
_unit("months", "12", "year years yr yrs")
_unit("bytes", "1", "byte bytes b")
for _power, _names in enumerate(("k kilo", "m mega", "g giga", "t tera", "p peta"), start=1):
    _letter, _long = _names.split()
    _unit("bytes", str(10 ** (3 * _power)), f"{_letter}b {_long}byte {_long}bytes")
    _unit("bytes", str(2 ** (10 * _power)), f"{_letter}ib {_letter}ibibyte {_letter}ibibytes")
_unit("bit/s", "1000", "kbps kbit/s")
_unit("bit/s", "1000000", "mbps mbit/s")
_unit("bit/s", "1000000000", "gbps gbit/s")
_unit("metres", "0.001", "mm millimetre millimetres millimeter millimeters")
_unit("metres", "0.01", "cm centimetre centimetres centimeter centimeters")
_unit("metres", "1", "metre metres meter meters")
_unit("metres", "1000", "km kilometre kilometres kilometer kilometers")
_unit("miles", "1", "mile miles mi")
_unit("grams", "0.001", "mg milligram milligrams")
_unit("grams", "1", "g gram grams")
_unit("grams", "1000", "kg kilo kilos kilogram kilograms")
_unit("grams", "1000000", "tonne tonnes")
_unit("litres", "0.001", "ml millilitre millilitres milliliter milliliters")
_unit("litres", "1", "l litre litres liter liters")
_unit("celsius", "1", "°c celsius")
_unit("fahrenheit", "1", "°f fahrenheit")
_unit("degrees", "1", "° degrees degree")
_unit("percent", "1", "% percent pct")
_unit("hertz", "1", "hz")
_unit("hertz", "1000", "khz")
_unit("hertz", "1000000", "mhz")
_unit("hertz", "1000000000", "ghz")
_unit("watts", "1", "watt watts")
_unit("watts", "1000", "kw")
_unit("requests/s", "1", "rps qps req/s")
for _money in (
    "usd $ dollar dollars",
    "eur € euro euros",
    "gbp £ pound pounds",
    "chf",
    "jpy ¥ yen",
):
    _unit(_money.split(maxsplit=1)[0], "1", _money)
_unit("usd", "0.01", "cent cents")

_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "k": 1000,
    "million": 10**6,
    "billion": 10**9,
    "dozen": 12,
}
_MONTHS = {
    name[:length]: number
    for number, name in enumerate(
        "january february march april may june july august september october november "
        "december".split(),
        start=1,
    )
    for length in (3, 4, len(name))
}
_MONTHS["sept"] = 9

_month = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_number = r"\d+(?:[,_']\d{3})*(?:\.\d+)?"
_tens = "|".join(_TENS)
_ones = "|".join(_WORDS)
_word = rf"(?:(?:{_tens})(?:[ -](?:{_ones}))?|{_ones})\b"
_units = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_scale = "|".join(scale for scale in _SCALES if len(scale) > 1)

# What begins with a digit and what begins with a letter are tried apart, and only where a word
# begins: this reads every memory of a store.
_value_re = re.compile(
    rf"""
    (?<!\w)(?: (?=[\d$€£¥]) (?:
    (?P<iso> \d{{4}}-\d\d(?:-\d\d)?(?:t\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?)?
        (?![\w-]) )
  | (?P<dmy> (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?[ ](?:of[ ])?(?P<m1>{_month})
        (?:,?[ ](?P<y1>\d{{4}})\b)? )
  | (?P<dotted> \d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b )
  | (?P<clock> (?P<hh>[01]?\d|2[0-4]):(?P<mm>[0-5]\d)(?::(?P<ss>[0-5]\d))?
        (?:[ ]?(?P<half1>[ap])\.?m\b\.?)? )
  | (?P<half> (?P<h12>1[0-2]|0?[1-9])[ ]?(?P<half2>[ap])\.?m\b\.? )
  | (?P<release> \d+\.\d+\.\d+(?:[-.+][\w.]*\w)?\b )
  | (?P<money> (?P<sign>[$€£¥])[ ]?(?P<sum>{_number})(?P<ks>k|m|bn)?\b )
  | (?P<span> (?P<from>{_number})[ ]?(?:[-\u2013\u2014]|to\b|and\b)[ ]?(?P<to>{_number})
        [ ]?-?(?P<spanunit>{_units})(?![\w/]) )
  | (?P<plain> (?P<digits>{_number})(?P<kilo>k\b)?
        (?: (?:st|nd|rd|th)\b | [ -]?(?P<scale1>{_scale})\b )?
        (?:[ ]?-?(?P<unit1>{_units})(?![\w/]))? )
  | (?P<code> \d\w+ )
    ) | (?=[^\W\d]) (?:
    (?P<version> v(?:ersion[ ]|\.[ ]?)?\d+(?:\.\d+)*(?:[-.]?(?:rc|beta|alpha|pre|dev)\.?\d*)?\b )
  | (?P<mdy> (?P<m2>{_month})[ ](?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)
        (?:,?[ ](?P<y2>\d{{4}})\b)? )
  | (?P<my> (?P<m3>{_month})[ ](?P<y3>\d{{4}})\b )
  | (?P<quarter> q[1-4]\b(?:[ ]\d{{4}}\b)? )
  | (?P<noon> (?:noon|midnight)\b )
  | (?P<half_hour> half[ ]an?[ ]hour\b )
  | (?P<spelt> (?P<words>{_word}|an?(?=[ ](?:hundred|thousand|million|billion|dozen)\b))
        (?:[ -](?P<scale2>{_scale})\b)?(?:[ -](?P<unit2>{_units})(?![\w/]))? )
  | (?P<id> [^\W\d]+\d\w* )
    ))
    """,
    re.VERBOSE,
)
_start_re = re.compile(r"\w+|[$€£¥]")
_TRIGGERS = {*_WORDS, *_TENS, *_MONTHS, "noon", "midnight", "half", "version", "v", "a", "an"}


def read_quantities(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Return *text*, in lower case, without its quantities, and those in order, in one spelling.

    >>> read_quantities("retries after 90 s, then 1.5 minutes")
    ('retries after \x1f, then \x1f', ('90 s', '90 s'))
    >>> read_quantities("at 6:30 am on march 4, 2026")[1], read_quantities("v2.1 and svc12")[1]
    (('06:30', '2026-03-04'), ('v2.1', 'svc12'))
    """
    found: list[str] = []
    pieces: list[str] = []
    end = 0
    for start in _start_re.finditer(text):
        word = start[0]
        at = start.start()
        # Few words can begin a quantity, so most are passed over without a closer look.
        if at < end or (word not in _TRIGGERS and word.isalpha()):
            continue
        match = _value_re.match(text, at)
        if match is None:
            continue
        values = _READERS[str(match.lastgroup)](match)
        if values:
            found += values
            pieces += (text[end:at], "\x1f" * len(values))
            end = match.end()
    return "".join((*pieces, text[end:])), tuple(found)


def shown(quantity: str) -> str:
    """Return a quantity of `read_quantities` as people say it, in the largest unit that divides it.

    >>> shown("1209600 s"), shown("90 s"), shown("0.25 s"), shown("4000000 bytes"), shown("3 users")
    ('14 days', '90 s', '250 ms', '4 MB', '3 users')
    """
    digits, _, kind = quantity.partition(" ")
    for unit, size in _SHOWN.get(kind, ()):
        amount = Decimal(digits) / size
        if amount >= 1 and amount == amount.to_integral_value():
            return _spelt(amount, unit)
    return quantity


_SHOWN = {
    "s": (
        *(("days", Decimal(_DAY)), ("hours", Decimal(_HOUR)), ("min", Decimal(_MINUTE))),
        *(("s", Decimal(1)), ("ms", Decimal("0.001"))),
    ),
    "bytes": tuple(
        (f"{letter}B", Decimal(1000) ** n) for n, letter in zip((4, 3, 2, 1), "TGMk", strict=True)
    ),
}


def _iso(match: re.Match[str]) -> list[str]:
    text = match[0]
    return [text.replace("t", "T").replace("z", "Z")] if "t" in text else [text]


def _date(day: str | None, month: str, year: str | None) -> list[str]:
    number = _MONTHS[month.rstrip(".")]
    date = f"{number:02}" if day is None else f"{number:02}-{int(day):02}"
    return [f"{year or '-'}-{date}"]


def _dotted(match: re.Match[str]) -> list[str]:
    day, month, year = match[0].split(".")
    return [f"{year}-{int(month):02}-{int(day):02}"]


def _clock(match: re.Match[str]) -> list[str]:
    hour = _hour(int(match["hh"]), match["half1"])
    seconds = match["ss"]
    return [f"{hour:02}:{match['mm']}" + (f":{seconds}" if seconds and seconds != "00" else "")]


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    return hour % 12 + (12 if half == "p" else 0)


def _version(match: re.Match[str]) -> list[str]:
    bare = match[0].removeprefix("version ").removeprefix("v").lstrip(". ")
    return [f"v{bare}"]


def _money_sum(match: re.Match[str]) -> list[str]:
    factor = {"k": 1000, "m": 10**6, "bn": 10**9}.get(match["ks"] or "", 1)
    kind, _ = _UNITS[match["sign"]]
    return [_spelt(_decimal(match["sum"]) * factor, kind)]


def _span(match: re.Match[str]) -> list[str]:
    kind, factor = _UNITS[match["spanunit"]]
    return [_spelt(_decimal(match[end]) * Decimal(factor), kind) for end in ("from", "to")]


def _plain(match: re.Match[str]) -> list[str]:
    unit = match["unit1"]
    amount = _decimal(match["digits"])
    if match["kilo"] or match["scale1"]:
        amount *= _SCALES[match["scale1"] or "k"]
    elif unit is None:
        # A number alone may be a version or a code, in which 3.10 is not 3.1.
        return [re.sub(r"[,_']", "", match["digits"])]
    return _with_unit(amount, unit)


def _in_words(match: re.Match[str]) -> list[str]:
    words = match["words"]
    unit, scale = match["unit2"], match["scale2"]
    if words == "one" and scale is None and (unit is None or len(unit) == 1):
        # "this one", "one of them": no number.
        return []
    amount = Decimal(1)
    if words not in {"a", "an"}:
        parts = re.split("[ -]", words)
        amount = Decimal(sum(_TENS.get(part, _WORDS.get(part, 0)) for part in parts))
    return _with_unit(amount * _SCALES.get(scale or "", 1), unit)


def _with_unit(amount: Decimal, unit: str | None) -> list[str]:
    if unit is None:
        return [_spelt(amount, "")]
    kind, factor = _UNITS[unit]
    return [_spelt(amount * Decimal(factor), kind)]


def _spelt(amount: Decimal, kind: str) -> str:
    return f"{amount.normalize():f} {kind}".rstrip()


def _decimal(digits: str) -> Decimal:
    return Decimal(re.sub(r"[,_']", "", digits))


_READERS = {
    "iso": _iso,
    "dmy": lambda m: _date(m["d1"], m["m1"], m["y1"]),
    "mdy": lambda m: _date(m["d2"], m["m2"], m["y2"]),
    "my": lambda m: _date(None, m["m3"], m["y3"]),
    "dotted": _dotted,
    "quarter": lambda m: [m[0]],
    "clock": _clock,
    "half": lambda m: [f"{_hour(int(m['h12']), m['half2']):02}:00"],
    "noon": lambda m: ["12:00" if m[0] == "noon" else "00:00"],
    "version": _version,
    "release": _version,
    "id": lambda m: [m[0]],
    "code": lambda m: [m[0]],
    "money": _money_sum,
    "span": _span,
    "half_hour": lambda _: ["1800 s"],
    "plain": _plain,
    "spelt": _in_words,
}

from __future__ import annotations

import re
import shlex

import pytest

from memhtml.cli.commands import MODULES, every_command
from memhtml.cli.parse import parse
from memhtml.model.errors import (
    InvalidFlag,
    MemhtmlError,
    MissingArgument,
    UnexpectedArgument,
    UnknownCommand,
    UsageError,
)


def read(line: str) -> dict[str, object]:
    return dict(parse(shlex.split(line)).values)


def refusal(line: str) -> MemhtmlError:
    with pytest.raises(UsageError) as caught:
        parse(shlex.split(line))
    return caught.value


def test_every_command_is_found_by_its_whole_name() -> None:
    for command in every_command():
        needed = ["x" if not a.choices else a.choices[0] for a in command.arguments if a.required]
        flags = [
            f"--{f.name}={f.choices[0] if f.choices else 'x'}" for f in command.flags if f.required
        ]
        found = parse([*command.name.split(), *needed, *flags]).command
        assert found is command


def test_every_module_declares_the_commands_that_the_index_places_in_it() -> None:
    assert [command.name for command in every_command()] == list(MODULES)


def test_every_example_of_every_command_parses_as_that_command() -> None:
    for command in every_command():
        for example in command.examples:
            words = shlex.split(re.split(" [<>] ", example)[0])
            assert words[0] == "memhtml"
            assert parse(words[1:]).command is command, example


@pytest.mark.parametrize(
    "line",
    [
        "search q --limit 3",
        "search --limit 3 q",
        "--limit 3 search q",
        "--limit=3 search q",
        "search --limit=3 -- q",
        "search q --limit 9 --limit 3",
    ],
)
def test_a_flag_may_stand_anywhere_and_its_last_value_wins(line: str) -> None:
    values = read(line)
    assert (values["query"], values["limit"]) == ("q", 3)


def test_a_value_may_start_with_one_dash_and_after_an_equals_sign_with_two() -> None:
    values = read("write --title -x- --type task --claim=--why --body '- item'")
    assert (values["title"], values["claim"], values["body"]) == ("-x-", "--why", ("- item",))


def test_words_after_two_dashes_are_never_flags() -> None:
    assert read("search -- --limit")["query"] == "--limit"


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--include-archived", True),
        ("--include-archived=true", True),
        ("--include-archived=1", True),
        ("--include-archived=no", False),
        ("--include-archived=0", False),
        ("--no-include-archived", False),
        ("--include-archived --include-archived=false", False),
    ],
)
def test_a_switch_is_on_or_off_in_one_word(flag: str, value: bool) -> None:
    assert read(f"search q {flag}")["include-archived"] is value


@pytest.mark.parametrize("word", ["true", "false", "yes", "NO", "0", "1"])
def test_a_separate_value_for_a_switch_is_refused(word: str) -> None:
    error = refusal(f"search q --include-archived {word}")
    assert isinstance(error, InvalidFlag)
    assert f"--include-archived={word}" in error.message


def test_a_switch_takes_no_word_but_true_and_false() -> None:
    assert "maybe" in refusal("search q --include-archived=maybe").message
    assert isinstance(refusal("search q --no-include-archived=true"), InvalidFlag)


def test_a_repeatable_flag_collects_what_is_not_blank() -> None:
    assert read("search q --tag a --tag '' --tag ' ' --tag b")["tag"] == ("a", "b")


def test_absent_flags_have_their_defaults() -> None:
    values = read("search q")
    assert values["limit"] == 10
    assert values["tag"] == ()
    assert values["entity"] == ()
    assert values["workspace"] is None
    assert values["include-archived"] is False
    assert values["abstain"] is True


@pytest.mark.parametrize("value", ["abc", "-5", "0", "501", "1.5", "", "१०", "1_0", "1e2"])
def test_a_number_out_of_its_limits_or_no_number_at_all_is_refused_by_name(value: str) -> None:
    error = refusal(f"search q --limit={value}")
    assert isinstance(error, InvalidFlag)
    assert "--limit takes a whole number from 1 to 500" in error.message


@pytest.mark.parametrize("value", ["nan", "inf", "1.01", "-0.1", "half", "0,5"])
def test_a_confidence_that_is_none_is_refused(value: str) -> None:
    error = refusal(f"write --title t --type task --claim c --confidence {value}")
    assert "--confidence takes a number from 0 to 1" in error.message


def test_a_word_outside_a_closed_set_is_refused_with_the_nearest() -> None:
    error = refusal("write --title t --type semantc --claim c")
    assert "did you mean semantic?" in error.message
    assert isinstance(refusal("completion tcsh"), InvalidFlag)


def test_what_is_wrong_first_in_the_agreed_order_is_what_is_told() -> None:
    assert isinstance(refusal("read a b --bogus"), InvalidFlag)
    assert isinstance(refusal("search --include-archived true"), InvalidFlag)
    assert isinstance(refusal("read a b"), UnexpectedArgument)
    assert isinstance(refusal("read"), MissingArgument)
    assert "--title" in refusal("write --type nonsense").message
    assert isinstance(refusal("write --title"), MissingArgument)


def test_an_unknown_command_names_the_nearest_and_repeats_the_line_with_it() -> None:
    error = refusal("serach 'two words' --limit 3")
    assert isinstance(error, UnknownCommand)
    assert error.suggestions[0] == "memhtml search 'two words' --limit 3"


def test_an_unknown_flag_names_the_nearest_and_repeats_the_line_with_it() -> None:
    error = refusal("search q --limt=3")
    assert error.suggestions[0] == "memhtml search q --limit=3"
    assert error.suggestions[-1] == "memhtml help search"


def test_a_flag_of_another_command_says_whose_it_is() -> None:
    error = refusal("read x --explain")
    assert error.message == "memhtml read has no flag --explain; it belongs to search"


def test_a_family_name_alone_lists_its_members() -> None:
    error = refusal("index")
    assert error.suggestions == (
        "memhtml index rebuild",
        "memhtml index update",
        "memhtml index embed",
        "memhtml index status",
    )
    assert refusal("index rebuld").suggestions[0] == "memhtml index rebuild"


def test_a_single_dash_word_is_a_flag_only_when_it_is_made_of_letters() -> None:
    assert read("search -5")["query"] == "-5"
    assert read("check -")["path"] == ("-",)
    assert "goes after --" in refusal("search -x").message


def test_help_is_to_be_had_whatever_else_is_wrong() -> None:
    for line in ("write -h", "write --bogus --help", "write --help --type nonsense a b c"):
        parsed = parse(shlex.split(line))
        assert parsed.command is not None
        assert parsed.command.name == "write"
        assert parsed.values["help"] is True


def test_every_usage_error_says_where_to_read_on() -> None:
    for line in ("read", "read a b", "search q --limit x", "write --title", "search q --bogus"):
        assert refusal(line).suggestions[-1] == f"memhtml help {line.split()[0]}"


def test_a_suggestion_that_would_be_long_to_read_names_the_word_instead() -> None:
    error = refusal(f"write --titel {'long ' * 60}")
    assert error.suggestions[0] == "use --title in place of --titel"


@pytest.mark.parametrize(
    ("line", "meant", "again"),
    [
        (
            "task add 'Buy rye flour'",
            "--title 'Buy rye flour'",
            "memhtml task add --title 'Buy rye flour'",
        ),
        (
            "task add --due 2026-08-07 Buy rye flour --dense",
            "--title 'Buy rye flour'",
            "memhtml task add --due 2026-08-07 --dense --title 'Buy rye flour'",
        ),
        (
            "archive areas/a.html stale",
            "--reason stale",
            "memhtml archive areas/a.html --reason stale",
        ),
        ("diff 7d", "--since 7d", "memhtml diff --since 7d"),
        (
            "export --out x.jsonl jsonl",
            "--format jsonl",
            "memhtml export --out x.jsonl --format jsonl",
        ),
        # Something else is missing too, so there is no line to paste.
        ("write 'Gate hours'", "--title 'Gate hours'", None),
        ("export notes", "--out notes", None),
    ],
)
def test_a_bare_word_is_proposed_for_the_flag_that_is_missing(
    line: str, meant: str, again: str | None
) -> None:
    error = refusal(line)
    assert isinstance(error, UnexpectedArgument)
    assert error.message.endswith(f"; did you mean {meant}?")
    if again is not None:
        assert error.suggestions[0] == again
        assert read(again.removeprefix("memhtml "))


def test_a_word_too_many_is_no_flag_where_none_is_missing() -> None:
    assert "did you mean" not in refusal("task add --title Flour rye").message
    assert "did you mean" not in refusal("task add -- --due").message
    assert "did you mean" not in refusal("task add " + "x" * 200).message

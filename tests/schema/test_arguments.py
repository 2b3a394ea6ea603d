"""The way of arguments back to the server."""

from __future__ import annotations

import copy
import json
import pickle
from types import MappingProxyType

import pytest

from mcp_adapters.schema import (
    ArgumentCodec,
    ArgumentProblem,
    Decoded,
    Rename,
    Renames,
    check,
    describe,
    project,
)


def _decode(schema, arguments, dialect="portable"):
    return ArgumentCodec(json.dumps(schema), project(check(schema).schema, dialect).renames).decode(arguments)


def _object(properties, **more):
    return {"type": "object", "properties": properties, **more}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
INNER = _object({"a": TEXT, "b": TEXT, "n": {"type": ["string", "null"]}}, required=["a"])
NODE = _object({"v": WHOLE, "next": {"$ref": "#/$defs/Nd"}}, required=["v"])


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        (_object({"a": TEXT}), None, {}),
        (_object({"a": TEXT}), {}, {}),
        (_object({"a": {"type": "string", "default": "x"}}), {}, {}),
        (_object({"a": TEXT}), {"a": None}, {}),
        (_object({"a": {"type": ["string", "null"]}}), {"a": None}, {"a": None}),
        (_object({"a": {"type": "string", "nullable": True}}), {"a": None}, {"a": None}),
        (_object({"a": {"enum": ["x", None]}}), {"a": None}, {"a": None}),
        (_object({"a": {}}), {"a": None}, {"a": None}),
        (_object({"o": INNER}), {"o": {"a": "x", "b": None, "n": None}}, {"o": {"a": "x", "n": None}}),
        (
            _object({"l": {"type": "array", "items": INNER}}),
            {"l": [{"a": "x", "b": None}]},
            {"l": [{"a": "x"}]},
        ),
        (
            _object({"m": {"type": "object", "additionalProperties": INNER}}),
            {"m": {"k": {"a": "x", "b": None}}},
            {"m": {"k": {"a": "x"}}},
        ),
        (
            _object({"o": {"$ref": "#/$defs/I"}}, **{"$defs": {"I": INNER}}),
            {"o": {"a": "x", "b": None}},
            {"o": {"a": "x"}},
        ),
        (_object({"o": {"allOf": [INNER]}}), {"o": {"a": "x", "b": None}}, {"o": {"a": "x"}}),
        (
            _object({"o": {"anyOf": [INNER, {"type": "null"}]}}),
            {"o": {"a": "x", "b": None}},
            {"o": {"a": "x"}},
        ),
        (
            _object(
                {
                    "o": {
                        "anyOf": [
                            _object({"k": {"const": "a"}, "x": TEXT}),
                            _object({"k": {"const": "b"}, "x": WHOLE, "y": TEXT}),
                        ]
                    }
                }
            ),
            {"o": {"k": "b", "x": "5", "y": None}},
            {"o": {"k": "b", "x": 5}},
        ),
        (
            _object({"n": NODE}, **{"$defs": {"Nd": NODE}}),
            {"n": {"v": 1, "next": {"v": "2", "next": None}}},
            {"n": {"v": 1, "next": {"v": 2}}},
        ),
        (
            _object({"a": TEXT, "b": TEXT}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
            {"a": "x", "b": None},
            {"a": "x"},
        ),
        (_object({"n": WHOLE}), {"n": "5"}, {"n": 5}),
        (_object({"n": WHOLE}), {"n": "5.0"}, {"n": 5}),
        (_object({"n": WHOLE}), {"n": 3.0}, {"n": 3}),
        (_object({"n": {"type": "number"}}), {"n": 3.0}, {"n": 3.0}),
        (_object({"n": {"type": ["integer", "string"]}}), {"n": "5"}, {"n": "5"}),
        (_object({"n": {"anyOf": [WHOLE, TEXT]}}), {"n": "[5]"}, {"n": "[5]"}),
        (_object({"n": {}}), {"n": "5"}, {"n": "5"}),
        (_object({"b": {"type": "boolean"}}), {"b": "true"}, {"b": True}),
        (_object({"l": {"type": "array", "items": WHOLE}}), {"l": "[1, 2.0]"}, {"l": [1, 2]}),
        (_object({"o": INNER}), {"o": '{"a": "x", "b": null}'}, {"o": {"a": "x"}}),
        (_object({"c": {"const": 7}}), {"c": "7"}, {"c": 7}),
        (_object({"filter[id]": TEXT}), {"filter_id_": "7"}, {"filter[id]": "7"}),
        (_object({"filter[id]": TEXT}), {"filter[id]": "7"}, {"filter[id]": "7"}),
        (_object({"filter[id]": TEXT}), {"filter_id_": None}, {}),
        (
            _object({"self": TEXT, "config": TEXT, "__proto__": TEXT}),
            {"self": "a", "config": "b", "__proto__": "c"},
            {"self": "a", "config": "b", "__proto__": "c"},
        ),
        (
            _object({"t": {"type": "array", "prefixItems": [WHOLE, TEXT], "items": {"type": "boolean"}}}),
            {"t": ["1", "2", "true"]},
            {"t": [1, "2", True]},
        ),
    ],
)
def test_what_can_only_be_meant_one_way_reaches_the_server_in_its_form(schema, given, sent):
    assert _decode(schema, given) == Decoded(arguments=sent)


@pytest.mark.parametrize(
    ("schema", "given", "problem"),
    [
        (
            _object({"q": TEXT}, required=["q"]),
            {"q": None},
            ArgumentProblem(pointer="/q", reason="it is null", accepted="string"),
        ),
        (
            _object({"q": TEXT}, required=["q"]),
            {},
            ArgumentProblem(pointer="/q", reason="it is required and missing", accepted="string"),
        ),
        (
            _object({"n": WHOLE}),
            {"n": "five"},
            ArgumentProblem(pointer="/n", reason='"five" is a string', accepted="integer"),
        ),
        (
            _object({"n": {"type": "integer", "minimum": 3, "maximum": 9}}),
            {"n": 1},
            ArgumentProblem(pointer="/n", reason="1 is too small", accepted="integer, at least 3, at most 9"),
        ),
        (
            _object({"k": {"enum": ["a", "b"]}}),
            {"k": "c"},
            ArgumentProblem(pointer="/k", reason='"c" is not accepted', accepted='one of "a", "b"'),
        ),
        (
            _object({"k": {"const": "a"}}),
            {"k": "c"},
            ArgumentProblem(pointer="/k", reason='"c" is not accepted', accepted='"a"'),
        ),
        (
            _object({"u": {"anyOf": [WHOLE, INNER]}}),
            {"u": []},
            ArgumentProblem(
                pointer="/u", reason="[] fits none of the forms", accepted="integer or object with a, b?, n?"
            ),
        ),
        (
            _object({"u": {"oneOf": [WHOLE, {"minimum": 1}]}}),
            {"u": 5},
            ArgumentProblem(
                pointer="/u",
                reason="5 fits more than one of the forms",
                accepted="integer or any value, at least 1",
            ),
        ),
        (
            _object({"x y": TEXT}, additionalProperties=False),
            {"z": 1},
            ArgumentProblem(pointer="", reason="unknown: 'z'", accepted="only x_y"),
        ),
        (
            _object({}, additionalProperties=False),
            {"z": 1},
            ArgumentProblem(pointer="", reason="unknown: 'z'", accepted="nothing"),
        ),
        (
            _object({"x y": INNER}),
            {"x_y": {"a": 1}},
            ArgumentProblem(pointer="/x_y/a", reason="1 is an integer", accepted="string"),
        ),
        (
            _object({"x y": TEXT}, required=["x y"]),
            {},
            ArgumentProblem(pointer="/x_y", reason="it is required and missing", accepted="string"),
        ),
        (
            _object({"n": {"$ref": "#/$defs/N"}}, **{"$defs": {"N": WHOLE}}),
            {"n": []},
            ArgumentProblem(pointer="/n", reason="[] is an array", accepted="integer"),
        ),
        (
            _object({"l": {"type": "array", "items": {"type": "array", "items": WHOLE}}}),
            {"l": 5},
            ArgumentProblem(pointer="/l", reason="5 is an integer", accepted="array of array of integer"),
        ),
    ],
)
def test_a_problem_names_the_place_the_reason_and_the_accepted_form(schema, given, problem):
    assert _decode(schema, given).problems == (problem,)


def test_all_problems_are_reported():
    schema = _object({"a": WHOLE, "b": TEXT, "c": {"enum": [1]}}, required=["z"], additionalProperties=False)

    pointers = {problem.pointer for problem in _decode(schema, {"a": "x", "b": 1, "c": 2, "q": 0}).problems}

    assert pointers == {"/a", "/b", "/c", "/z", ""}


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"a": float("nan")}, "/a"),
        ({"a": float("-inf")}, "/a"),
        ({"a": b"x"}, "/a"),
        ({"a": {1}}, "/a"),
        ({"a": (1, 2)}, "/a"),
        ({"a": object()}, "/a"),
        ({"a": "\udc80"}, "/a"),
        ({"a": 10**5000}, "/a"),
        ({1: 2}, ""),
        ({"a": {None: 1}}, "/a"),
        ([1], ""),
        ("text", ""),
        (5, ""),
    ],
)
def test_arguments_that_are_not_json_are_a_problem_and_no_exception(arguments, pointer):
    decoded = _decode(_object({"a": {}}), arguments)

    assert decoded.arguments == {}
    assert [problem.pointer for problem in decoded.problems] == [pointer]


def test_arguments_that_contain_themselves_or_are_too_deep_are_a_problem():
    endless: dict[str, object] = {}
    endless["a"] = endless
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]

    assert [bool(_decode(_object({}), value).problems) for value in (endless, {"a": deep})] == [True, True]


@pytest.mark.parametrize("text", ["[" * 100_000, "NaN", "Infinity", "9" * 5_000, "null", "{", "[1,]", '"5"'])
def test_text_that_is_no_json_of_the_wanted_type_stays_text_and_is_a_problem(text):
    decoded = _decode(_object({"l": {"type": "array"}}), {"l": text})

    assert decoded.arguments == {"l": text}
    assert [problem.pointer for problem in decoded.problems] == ["/l"]


def test_the_arguments_that_came_in_are_neither_changed_nor_shared():
    given = {"x_y": {"l": [1, None]}, "n": "5", "o": None}
    before = copy.deepcopy(given)
    schema = _object({"x y": _object({"l": {"type": "array"}}), "n": WHOLE, "o": TEXT})

    _decode(schema, given).arguments["x y"]["l"].clear()

    assert given == before


def test_a_read_only_mapping_is_taken():
    assert _decode(_object({"n": WHOLE}), MappingProxyType({"n": "5"})).arguments == {"n": 5}


def test_renamed_keys_come_back_at_every_depth():
    schema = _object(
        {
            "a b": {
                "type": "array",
                "items": _object(
                    {"c d": TEXT, "m": {"type": "object", "additionalProperties": _object({"e f": TEXT})}}
                ),
            },
            "u": {"anyOf": [_object({"g h": TEXT}), TEXT]},
        }
    )
    renames = project(check(schema).schema, "gemini").renames
    codec = ArgumentCodec(json.dumps(schema), renames)

    decoded = codec.decode({"a_b": [{"c_d": "1", "m": {"k": {"e_f": "2"}}}], "u": {"g_h": "3"}})

    assert decoded.problems == ()
    assert decoded.arguments["a b"][0]["c d"] == "1"
    assert decoded.arguments["u"] == {"g h": "3"}


def test_a_renamed_key_inside_json_text_comes_back():
    renames = Renames(
        entries=(
            Rename(path=(), exposed="o_p", original="o p"),
            Rename(path=("o p",), exposed="x_y", original="x y"),
        )
    )
    codec = ArgumentCodec(json.dumps(_object({"o p": _object({"x y": TEXT})})), renames)

    assert codec.decode({"o_p": '{"x_y": "1"}'}).arguments == {"o p": {"x y": "1"}}


@pytest.mark.parametrize(
    "schema_json", ["", "[", "null", '{"type": "array"}', '{"type": "objekt"}', "[" * 100_000]
)
def test_a_schema_that_cannot_be_used_is_a_problem_with_every_call(schema_json):
    assert [problem.reason for problem in ArgumentCodec(schema_json).decode({}).problems] == [
        "the tool's own schema cannot be used"
    ]


def test_a_codec_pickles_and_decodes_the_same_after_use():
    schema = _object({"a b": WHOLE})
    codec = ArgumentCodec(json.dumps(schema), project(check(schema).schema).renames)
    first = codec.decode({"a_b": "5"})

    assert pickle.loads(pickle.dumps(codec)).decode({"a_b": "5"}) == first == Decoded(arguments={"a b": 5})


def test_a_pattern_that_cannot_be_decided_in_time_is_left_to_the_server():
    schema = _object({"a": {"type": "string", "pattern": r"(?=a)(a+)+\1$"}})

    assert _decode(schema, {"a": "a" * 3_000 + "!"}).problems == ()


def test_what_the_model_reads_has_every_place_reason_and_accepted_form():
    problems = _decode(_object({"n": WHOLE, "k": {"enum": ["a"]}}), {"n": "x", "k": 1}).problems

    assert describe(problems, "demo_tool").splitlines() == [
        "The arguments for demo_tool are not valid; the tool was not called.",
        '- /n: "x" is a string. Accepted: integer.',
        '- /k: 1 is not accepted. Accepted: "a".',
    ]


def test_what_the_model_reads_is_bounded():
    schema = _object(
        {f"p{'x' * 100}{i}": {"enum": ["v" * 90] * 1 + [f"w{j}" for j in range(40)]} for i in range(60)}
    )
    given = dict.fromkeys(schema["properties"], "y" * 10000)

    text = describe(_decode(schema, given).problems, "t")

    assert len(text) < 6_500
    assert text.endswith("- and 50 more problems.")

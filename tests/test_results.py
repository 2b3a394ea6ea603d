"""What becomes of a server's answer: parts, the text a model reads, the value a program gets."""

from __future__ import annotations

import base64
import copy
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.results import (
    from_artifact,
    interleave,
    placeholder,
    read_result,
    shorten,
    to_artifact,
    wraps_result,
)
from mcp_adapters.spec import (
    AudioPart,
    BlobResourcePart,
    ImagePart,
    ResourceLinkPart,
    TextPart,
    TextResourcePart,
    ToolResult,
    UnknownPart,
)

PIXELS = base64.b64encode(bytes(range(100))).decode()
SOUND = base64.b64encode(bytes(range(100, 201))).decode()
BYTES = base64.b64encode(bytes(range(50, 152))).decode()

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": PIXELS, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SOUND, "mimeType": "audio/wav"}
NOTE = {
    "type": "resource",
    "resource": {"uri": "file:///n.md", "text": "a note", "mimeType": "text/markdown"},
}
BLOB = {"type": "resource", "resource": {"uri": "file:///d.bin", "blob": BYTES, "mimeType": "x/y"}}
LINK = {"type": "resource_link", "uri": "file:///r.pdf", "name": "report"}

ENTRIES = [
    pytest.param(TEXT, TextPart(text="hello"), "hello", id="text"),
    pytest.param(
        {"type": "text", "text": "x", "annotations": {"priority": 1}, "_meta": {"a": 1}, "error": True},
        TextPart(text="x", annotations={"priority": 1}, meta={"a": 1}),
        "x",
        id="text with all its facts and an extra one",
    ),
    pytest.param(
        IMAGE, ImagePart(data=PIXELS, mime_type="image/png"), "[image image/png, 100 bytes]", id="image"
    ),
    pytest.param(
        AUDIO, AudioPart(data=SOUND, mime_type="audio/wav"), "[audio audio/wav, 101 bytes]", id="audio"
    ),
    pytest.param(
        {"type": "image", "data": f"{PIXELS[:76]}\r\n{PIXELS[76:]}\n", "mimeType": "image/png"},
        ImagePart(data=PIXELS, mime_type="image/png"),
        "[image image/png, 100 bytes]",
        id="image with wrapped base64",
    ),
    pytest.param(
        NOTE,
        TextResourcePart(uri="file:///n.md", text="a note", mime_type="text/markdown"),
        "[resource file:///n.md, text/markdown]\na note",
        id="text resource",
    ),
    pytest.param(
        {"type": "resource", "resource": {"text": "a note", "_meta": {"b": 2}}, "_meta": None},
        TextResourcePart(uri="", text="a note", meta={"b": 2}),
        "[resource]\na note",
        id="text resource without an address",
    ),
    pytest.param(
        BLOB,
        BlobResourcePart(uri="file:///d.bin", blob=BYTES, mime_type="x/y"),
        "[resource file:///d.bin, x/y, 102 bytes]",
        id="blob resource",
    ),
    pytest.param(
        {"type": "resource", "resource": {"uri": "file:///empty", "blob": ""}},
        BlobResourcePart(uri="file:///empty", blob=""),
        "[resource file:///empty, 0 bytes]",
        id="empty blob without a MIME type",
    ),
    pytest.param(
        {"type": "resource", "resource": {"uri": f"data:image/png;base64,{PIXELS}", "blob": PIXELS}},
        BlobResourcePart(uri=f"data:image/png;base64,{PIXELS}", blob=PIXELS),
        "[resource data:image/png;base64,..., 100 bytes]",
        id="blob with its content in its address",
    ),
    pytest.param(
        LINK,
        ResourceLinkPart(uri="file:///r.pdf", name="report"),
        "[resource link report: file:///r.pdf]",
        id="link",
    ),
    pytest.param(
        {
            **LINK,
            "title": "May",
            "description": "All\nof May",
            "mimeType": "application/pdf",
            "size": 2048,
            "annotations": {"audience": ["user"]},
        },
        ResourceLinkPart(
            uri="file:///r.pdf",
            name="report",
            title="May",
            description="All\nof May",
            mime_type="application/pdf",
            size=2048,
            annotations={"audience": ["user"]},
        ),
        "[resource link report: file:///r.pdf, application/pdf, 2048 bytes, All of May]",
        id="link with all its facts",
    ),
    pytest.param(
        {"type": "resource_link", "uri": "file:///r", "size": True},
        ResourceLinkPart(uri="file:///r", name="file:///r"),
        "[resource link file:///r: file:///r]",
        id="link without a name",
    ),
]

MALFORMED = [
    pytest.param(7, "the entry is not an object", id="number"),
    pytest.param(None, "the entry is not an object", id="null"),
    pytest.param({"type": "video", "data": PIXELS}, "unknown type 'video'", id="new kind"),
    pytest.param({"text": "x"}, "unknown type that is not a string", id="no type"),
    pytest.param({"type": ["text"]}, "unknown type that is not a string", id="type is a list"),
    pytest.param({"type": "v" * 99}, f"unknown type '{'v' * 60}...'", id="endless type"),
    pytest.param({"type": "text"}, "text: 'text' is missing", id="text without text"),
    pytest.param({"type": "text", "text": 1}, "text: 'text' is not a string", id="text is a number"),
    pytest.param({"type": "image", "data": PIXELS}, "image: 'mimeType' is missing", id="image of no type"),
    pytest.param({**IMAGE, "data": ""}, "image: 'data' is empty", id="empty image"),
    pytest.param({**IMAGE, "data": "AAA"}, "image: 'data' is not base64", id="unpadded base64"),
    pytest.param({**IMAGE, "data": "AA=A"}, "image: 'data' is not base64", id="padding inside"),
    pytest.param({**AUDIO, "data": "_-_-"}, "audio: 'data' is not base64", id="URL-safe base64"),
    pytest.param({"type": "resource"}, "resource: 'resource' is not an object", id="resource without one"),
    pytest.param(
        {"type": "resource", "resource": {"uri": "a:b"}}, "resource: 'blob' is missing", id="empty resource"
    ),
    pytest.param(
        {"type": "resource", "resource": {"uri": "a:b", "blob": "!"}},
        "resource: 'blob' is not base64",
        id="blob with bad base64",
    ),
    pytest.param(
        {"type": "resource_link", "name": "x"}, "resource_link: 'uri' is missing", id="link to nowhere"
    ),
]


@pytest.mark.parametrize(("entry", "part", "text"), ENTRIES)
def test_each_kind_of_entry_becomes_its_part_and_a_readable_text(entry, part, text):
    raw = {"content": [entry]}

    assert read_result(raw) == ToolResult(text=text, parts=(part,), raw=raw)


@pytest.mark.parametrize(("entry", "problem"), MALFORMED)
def test_what_cannot_be_read_is_kept_and_visible_and_harms_no_neighbour(entry, problem):
    raw = {"content": [TEXT, entry, IMAGE]}

    assert read_result(raw) == ToolResult(
        text=f"hello\n[unreadable content: {problem}]\n[image image/png, 100 bytes]",
        parts=(
            TextPart(text="hello"),
            UnknownPart(raw=entry, problem=problem),
            ImagePart(data=PIXELS, mime_type="image/png"),
        ),
        raw=raw,
    )


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ({}, ()),
        ({"content": None}, ()),
        ({"content": []}, ()),
        ({"content": TEXT}, (TextPart(text="hello"),)),
        ({"content": "hello"}, (TextPart(text="hello"),)),
        ({"content": ["hello"]}, (TextPart(text="hello"),)),
        ({"content": 5}, (UnknownPart(raw=5, problem="the entry is not an object"),)),
    ],
)
def test_content_that_is_no_list_is_read_for_what_it_can_only_mean(raw, parts):
    assert read_result(raw).parts == parts


CONTENTS = {
    "nothing": ([], ""),
    "blank text": ([{"type": "text", "text": " \n"}], ""),
    "text": ([TEXT], "hello"),
    "texts": ([TEXT, TEXT], "hello\nhello"),
    "media": ([IMAGE], "[image image/png, 100 bytes]"),
    "text and media": ([TEXT, IMAGE, TEXT], "hello\n[image image/png, 100 bytes]\nhello"),
    "resource": ([NOTE], "[resource file:///n.md, text/markdown]\na note"),
    "link": ([LINK], "[resource link report: file:///r.pdf]"),
}


@pytest.mark.parametrize("is_error", [True, False, None])
@pytest.mark.parametrize("structured", [{"rows": [1, 2]}, None])
@pytest.mark.parametrize("kind", CONTENTS)
def test_content_structured_content_and_error_combine(kind, structured, is_error):
    content, body = CONTENTS[kind]
    raw = {"content": content, "structuredContent": structured, "isError": is_error}
    nothing = "The tool failed and gave no reason" if is_error else "Tool executed successfully"
    extra = "" if structured is None else '{"rows": [1, 2]}'

    result = read_result(raw)

    assert (result.text, result.structured, result.is_error) == (
        "\n".join(filter(None, [body, extra])) or nothing,
        structured,
        bool(is_error),
    )


def test_an_error_that_is_said_in_an_odd_way_is_still_an_error():
    assert [read_result({"isError": odd}).is_error for odd in ("true", 1, {}, False, None)] == [
        True,
        True,
        True,
        False,
        False,
    ]


def _texts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


LONG = "line of a long file\n" * 20
ECHO = {"type": "image", "data": PIXELS, "mimeType": "image/png"}

SAID = [
    pytest.param(_texts('{"a": [1, true]}'), {"a": [1, True]}, id="its JSON"),
    pytest.param(_texts('{\n  "b": 2,\n  "a": 1.0\n}'), {"a": 1, "b": 2}, id="JSON in another layout"),
    pytest.param(_texts("Here it is:", '{"a": 1}'), {"a": 1}, id="its JSON in one of the texts"),
    pytest.param(_texts('{"a":', "1}"), {"a": 1}, id="its JSON over several texts"),
    pytest.param(_texts("plain\n"), "plain", id="a string that is the text"),
    pytest.param(_texts("plain"), {"content": "plain"}, id="a text under one key"),
    pytest.param(_texts("a", "b"), {"content": "a\nb"}, id="joined texts under one key"),
    pytest.param(_texts("[1, 2]"), {"entities": [1, 2]}, id="a list under one key"),
    pytest.param(_texts("a", '{"b": 1}'), [["a"], None, {"b": 1}], id="element by element"),
    pytest.param(_texts("[1, 2]"), {"result": [1, 2]}, id="a list under the key of a wrapper"),
    pytest.param([NOTE], {"text": "a note"}, id="the text of a resource"),
    pytest.param([IMAGE], {"content": [ECHO]}, id="the same image again"),
    pytest.param([BLOB], {"content": [BLOB]}, id="the same blob again"),
    pytest.param([BLOB], {"content": [{"blob": BYTES, "mimeType": "x/y"}]}, id="the blob in another form"),
    pytest.param([BLOB], {"content": [{"type": "blob", "data": BYTES}]}, id="the blob under another type"),
]
NOT_SAID = [
    pytest.param(_texts("0 commands"), {"commands": []}, '{"commands": []}', id="a summary"),
    pytest.param(_texts("1"), {"ok": True}, '{"ok": true}', id="true is not 1"),
    pytest.param(_texts("[1]"), [True], "[true]", id="true in a list is not 1"),
    pytest.param(_texts('{"a": 1}'), {"a": 1, "b": "ü"}, '{"a": 1, "b": "ü"}', id="more than the text"),
    pytest.param(_texts("a"), ["a", "b"], '["a", "b"]', id="more elements than texts"),
    pytest.param(
        _texts(LONG), {"text": LONG, "n": 1}, '{"text": "[the text above]", "n": 1}', id="long text again"
    ),
    pytest.param(
        [IMAGE],
        {"image": PIXELS, "width": 10},
        '{"image": "[image image/png, 100 bytes]", "width": 10}',
        id="more than the image",
    ),
    pytest.param(
        [IMAGE],
        {"url": f"data:image/png;base64,{PIXELS}"},
        '{"url": "data:image/png;base64,[image image/png, 100 bytes]"}',
        id="the image inside a text",
    ),
    pytest.param([IMAGE], {"kind": "image"}, '{"kind": "image"}', id="words of the image without its data"),
    pytest.param([LINK], 0, "0", id="zero"),
    pytest.param([LINK], [], "[]", id="an empty list beside no text"),
    pytest.param([LINK], False, "false", id="false"),
]


@pytest.mark.parametrize(("content", "value"), SAID)
def test_structured_content_that_the_content_says_is_not_sent_twice(content, value):
    alone = read_result({"content": content}).text

    assert read_result({"content": content, "structuredContent": value}).text == alone


@pytest.mark.parametrize(("content", "value", "extra"), NOT_SAID)
def test_structured_content_with_data_of_its_own_follows_the_content(content, value, extra):
    alone = read_result({"content": content}).text

    result = read_result({"content": content, "structuredContent": value})

    assert (result.text, result.structured) == (f"{alone}\n{extra}", value)


@pytest.mark.parametrize(
    ("mode", "content", "text"),
    [
        ("always", _texts('{"a": 1}'), '{"a": 1}\n{"a": 1}'),
        ("never", _texts("a summary"), "a summary"),
        ("never", [], '{"a": 1}'),
        ("never", _texts(" "), '{"a": 1}'),
    ],
)
def test_the_mode_decides_about_structured_content_beside_content(mode, content, text):
    assert read_result({"content": content, "structuredContent": {"a": 1}}, structured=mode).text == text


def test_always_repeats_long_texts_too():
    raw = {"content": _texts(LONG), "structuredContent": {"text": LONG}}

    assert read_result(raw, structured="always").text == f"{LONG}\n{json.dumps({'text': LONG})}"


def test_binary_data_that_is_only_in_structured_content_is_named_with_its_size():
    shot = base64.b64encode(bytes(3000)).decode()

    assert read_result({"structuredContent": {"shot": shot}}).text == '{"shot": "[base64, 3000 bytes]"}'


def test_base64_of_an_image_inside_a_text_gives_way_to_a_line():
    result = read_result({"content": [*_texts(json.dumps(IMAGE)), IMAGE]})

    assert result.text == (
        '{"type": "image", "data": "[image image/png, 100 bytes]", "mimeType": "image/png"}\n'
        "[image image/png, 100 bytes]"
    )
    assert result.parts[0] == TextPart(text=json.dumps(IMAGE))


FASTMCP = {"fastmcp": {"wrap_result": True}}


@pytest.mark.parametrize(
    ("raw", "wrapped", "value"),
    [
        ({"content": _texts("5"), "structuredContent": {"result": 5}}, False, 5),
        ({"content": _texts("five"), "structuredContent": {"result": "five"}}, False, "five"),
        ({"content": _texts("a.py"), "structuredContent": {"result": ["a.py"]}}, False, ["a.py"]),
        ({"content": _texts("1", "2"), "structuredContent": {"result": [1, 2]}}, False, [1, 2]),
        ({"content": _texts("[1, 2]"), "structuredContent": {"result": [1, 2]}}, False, {"result": [1, 2]}),
        ({"content": [], "structuredContent": {"result": []}}, False, []),
        ({"content": [], "structuredContent": {"result": None}}, False, None),
        (
            {"content": _texts('{"a": 1}'), "structuredContent": {"result": {"a": 1}}},
            False,
            {"result": {"a": 1}},
        ),
        ({"content": _texts('{"a": 1}'), "structuredContent": {"result": {"a": 1}}}, True, {"a": 1}),
        ({"content": _texts('{"result": 5}'), "structuredContent": {"result": 5}}, False, {"result": 5}),
        ({"content": _texts("found 1"), "structuredContent": {"result": 1}}, False, {"result": 1}),
        (
            {"content": _texts("5"), "structuredContent": {"result": 5, "unit": "m"}},
            True,
            {"result": 5, "unit": "m"},
        ),
        ({"content": _texts("x"), "structuredContent": {"result": 5}, "_meta": FASTMCP}, False, 5),
        (
            {"content": [], "structuredContent": {"result": 5}, "_meta": {"fastmcp": True}},
            False,
            {"result": 5},
        ),
        ({"content": [IMAGE], "structuredContent": {"result": []}}, False, {"result": []}),
    ],
)
def test_only_a_wrapper_that_an_sdk_added_is_taken_off(raw, wrapped, value):
    result = read_result(raw, wrapped=wrapped)

    assert (result.structured, result.raw) == (value, raw)


@pytest.mark.parametrize(
    ("schema", "wraps"),
    [
        (None, False),
        ({}, False),
        ({"x-fastmcp-wrap-result": True, "properties": {"result": {}}}, True),
        ({"x-fastmcp-wrap-result": False}, False),
        ({"title": "addOutput", "properties": {"result": {"type": "integer"}}}, True),
        ({"title": "addOutput", "properties": {"result": {}, "unit": {}}}, False),
        ({"title": "addOutput", "properties": None}, False),
        ({"title": "SumOutput", "properties": {"result": {}}}, False),
    ],
)
def test_the_output_schema_shows_a_wrapper_by_a_mark_or_by_the_generated_form(schema, wraps):
    assert wraps_result(schema, tool="add") is wraps


def test_the_parts_can_stand_in_the_place_of_their_lines():
    raw = {"content": [TEXT, IMAGE, AUDIO, *_texts("bye"), BLOB], "structuredContent": {"n": 1}}
    result = read_result(raw)

    pieces = interleave(result, lambda part: isinstance(part, ImagePart | BlobResourcePart))

    assert pieces == (
        "hello",
        result.parts[1],
        "[audio audio/wav, 101 bytes]\nbye",
        result.parts[4],
        '{"n": 1}',
    )


def test_carried_parts_follow_a_text_that_was_not_made_from_them():
    image = ImagePart(data=PIXELS, mime_type="image/png")
    result = ToolResult(text="made by hand", parts=(image,))

    assert interleave(result, lambda part: True) == ("made by hand", image)


def test_no_blank_text_stands_beside_carried_parts():
    result = read_result({"content": [*_texts(" "), IMAGE, *_texts("")]})

    assert interleave(result, lambda part: True) == (result.parts[1],)


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("abcdef", None, "abcdef"),
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abc\n[1 of 6 characters left out; the whole text is in HERE]\nef"),
        ("abcdef", 1, "a\n[5 of 6 characters left out; the whole text is in HERE]"),
        ("abcdef", 0, "[6 of 6 characters left out; the whole text is in HERE]"),
    ],
)
def test_a_long_text_keeps_both_ends_and_says_what_is_missing(text, limit, short):
    assert shorten(text, limit, whole="HERE") == short


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="-1"):
        shorten("a", -1)


@pytest.mark.parametrize("size", range(7))
def test_a_placeholder_names_the_size_of_the_decoded_data(size):
    blob = base64.b64encode(bytes(size)).decode()

    assert placeholder(BlobResourcePart(uri="a:b", blob=blob)) == f"[resource a:b, {size} bytes]"


def test_an_artifact_is_storable_json_whatever_numbers_and_texts_came():
    raw = {
        "structuredContent": {"wei": 2**70, "low": -(2**70), "max": 2**64 - 1, "nan": math.nan, "t": "\ud800"}
    }

    assert to_artifact(read_result(raw)) == {
        "structured_content": {
            "wei": str(2**70),
            "low": str(-(2**70)),
            "max": 2**64 - 1,
            "nan": "nan",
            "t": "\ufffd",
        },
        "is_error": False,
        "result": {
            "structuredContent": {
                "wei": str(2**70),
                "low": str(-(2**70)),
                "max": 2**64 - 1,
                "nan": "nan",
                "t": "\ufffd",
            }
        },
    }


def test_structured_content_too_deep_for_json_is_named_and_not_lost():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    raw = {"content": _texts("[" * 100_000), "structuredContent": {"result": deep}}

    result = read_result(raw)

    assert result.text == f"{'[' * 100_000}\n[structured content that cannot be shown as text]"
    assert result.structured is raw["structuredContent"]


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.recursive(
    SCALARS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
MEDIA_TEXT = st.binary(min_size=60, max_size=90).map(lambda data: base64.b64encode(data).decode())
MAYBE_BASE64 = MEDIA_TEXT | JSON
KINDS = st.sampled_from(["text", "image", "audio", "resource", "resource_link"])
RESOURCES = st.fixed_dictionaries(
    {}, optional={"uri": JSON, "text": JSON, "blob": MAYBE_BASE64, "mimeType": JSON}
)
WILD_ENTRIES = st.fixed_dictionaries(
    {"type": KINDS | JSON},
    optional={
        "text": JSON,
        "data": MAYBE_BASE64,
        "mimeType": st.just("image/png") | JSON,
        "resource": RESOURCES | JSON,
        "uri": JSON,
        "name": JSON,
        "size": JSON,
        "annotations": JSON,
        "_meta": JSON,
    },
)
CONTENT_LISTS = st.lists(WILD_ENTRIES | JSON, max_size=5)


@st.composite
def wild_results(draw):
    content = draw(CONTENT_LISTS)
    # The structured content of real servers repeats their content, wholly or in part.
    repeated = st.just(content) | st.just({"result": content}) | st.just({"content": content, "n": 1})
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "content": st.just(content) | JSON,
                "structuredContent": JSON | repeated | st.dictionaries(st.just("result"), JSON),
                "isError": JSON,
                "_meta": JSON | st.just(FASTMCP),
                "other": JSON,
            },
        )
    )


MODES = st.sampled_from(["auto", "always", "never"])


def _base64_texts(result: ToolResult) -> list[str]:
    held = [getattr(part, "data", None) or getattr(part, "blob", None) for part in result.parts]
    return [text for text in held if text and len(text) >= 64]


def _line_of(part) -> str:
    return part.text if isinstance(part, TextPart) else placeholder(part).encode("utf-8", "replace").decode()


@given(raw=wild_results(), mode=MODES, wrapped=st.booleans())
@settings(max_examples=200, deadline=None)
def test_no_answer_raises_and_no_entry_of_it_disappears(raw, mode, wrapped):
    before = copy.deepcopy(raw)

    result = read_result(raw, structured=mode, wrapped=wrapped)

    content = raw.get("content")
    entries = content if isinstance(content, list) else [] if content is None else [content]
    assert result.raw == before
    assert len(result.parts) == len(entries)
    assert result.text.strip()
    shown = [_line_of(part) for part in result.parts]
    assert not "".join(shown).strip() or all(line in result.text for line in shown)
    assert [part.raw for part in result.parts if isinstance(part, UnknownPart)] == [
        entry for entry, part in zip(entries, result.parts, strict=True) if isinstance(part, UnknownPart)
    ]
    assert not [data for data in _base64_texts(result) if data in result.text]


@given(raw=wild_results(), mode=MODES, wrapped=st.booleans())
@settings(max_examples=100, deadline=None)
def test_an_artifact_is_json_from_which_the_result_can_be_rebuilt(raw, mode, wrapped):
    result = read_result(raw, structured=mode, wrapped=wrapped)

    artifact = to_artifact(result)

    assert json.loads(json.dumps(artifact)) == artifact
    assert from_artifact(artifact, structured=mode) == result


@given(raw=JSON.filter(lambda value: isinstance(value, dict)))
@settings(max_examples=100, deadline=None)
def test_any_json_object_is_an_answer(raw):
    assert read_result(raw).raw is raw


@given(raw=wild_results(), carries=st.booleans())
@settings(max_examples=100, deadline=None)
def test_interleaving_keeps_every_part_it_carries_and_all_other_text(raw, carries):
    result = read_result(raw)

    pieces = interleave(result, lambda part: carries and isinstance(part, ImagePart))

    carried = [part for part in result.parts if carries and isinstance(part, ImagePart)]
    texts = [piece for piece in pieces if isinstance(piece, str)]
    assert [piece for piece in pieces if not isinstance(piece, str)] == carried
    assert all(text.strip() for text in texts)
    assert all(text in result.text for text in texts)
    assert carried or list(pieces) == [result.text]

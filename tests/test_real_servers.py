"""Servers that people use, in pinned versions: they are listed, called, and can say no.

What is expected here is what these servers answer to the SDK's own client.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from mcp_adapters import HttpServer, Toolbox
from mcp_adapters.errors import InvalidArgumentsError, ToolExecutionError
from mcp_adapters.spec import BlobResourcePart, ImagePart, ResourceLinkPart, TextPart

from . import real_servers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
"""A PNG of one black pixel, in base64."""

LOGO_SHA256 = "4466be3b7a0e51778f8634f5e984197ec35c748caf4c3b32763f89c577d29614"
"""Of the bytes of everything's tiny image."""


@pytest.fixture(scope="module", params=["stdio", "http"])
def everything(request: pytest.FixtureRequest) -> Iterator[Toolbox]:
    with _everything_over(request.param) as toolbox:
        yield toolbox


@contextmanager
def _everything_over(transport: str) -> Iterator[Toolbox]:
    if transport == "stdio":
        with Toolbox({"every": real_servers.everything()}) as toolbox:
            yield toolbox
    else:
        with real_servers.everything_over_http() as url, Toolbox({"every": HttpServer(url=url)}) as toolbox:
            yield toolbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a text and a picture, named without symbolic links as the server will name it."""
    folder = tmp_path.resolve() / "root"
    folder.mkdir()
    (folder / "hello.txt").write_text("hello\n")
    (folder / "dot.png").write_bytes(base64.b64decode(DOT))
    return folder


@pytest.fixture
def files(root: Path) -> Iterator[Toolbox]:
    with Toolbox({"fs": real_servers.filesystem(root)}) as toolbox:
        yield toolbox


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit, untouched by the settings of whoever runs the tests."""
    folder = tmp_path.resolve() / "repository"
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", folder], check=True)
    commit = ["commit", "--quiet", "--allow-empty", "--message=first"]
    subprocess.run(["git", "-C", folder, *author, *commit], check=True)
    return folder


def _remote_names(toolbox: Toolbox) -> list[str]:
    return [tool.remote_name for tool in toolbox.tools]


def test_everything_offers_a_client_without_handlers_thirteen_tools(everything: Toolbox) -> None:
    """It offers more to clients that declare roots, sampling or elicitation."""
    assert sorted(_remote_names(everything)) == [
        "echo",
        "get-annotated-message",
        "get-env",
        "get-resource-links",
        "get-resource-reference",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
        "gzip-file-as-resource",
        "simulate-research-query",
        "toggle-simulated-logging",
        "toggle-subscriber-updates",
        "trigger-long-running-operation",
    ]
    assert everything.skipped == ()


def test_everything_reaches_the_model_under_its_key_and_keeps_its_own_name(everything: Toolbox) -> None:
    tool = everything["every_get-sum"]

    assert (tool.id, tool.server, tool.remote_name) == ("every:get-sum", "every", "get-sum")
    assert tool.input_schema == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "a": {"type": "number", "description": "First number"},
            "b": {"type": "number", "description": "Second number"},
        },
        "required": ["a", "b"],
    }


def test_everything_adds_two_numbers(everything: Toolbox) -> None:
    result = everything.call("every_get-sum", {"a": 1, "b": 2})

    assert (result.text, result.is_error) == ("The sum of 1 and 2 is 3.", False)
    assert result.parts == (TextPart(text="The sum of 1 and 2 is 3."),)


def test_everything_sends_its_image_between_two_texts(everything: Toolbox) -> None:
    first, image, last = everything["every_get-tiny-image"].call().parts

    assert first == TextPart(text="Here's the image you requested:")
    assert last == TextPart(text="The image above is the MCP logo.")
    assert isinstance(image, ImagePart)
    assert image.mime_type == "image/png"
    assert hashlib.sha256(base64.b64decode(image.data)).hexdigest() == LOGO_SHA256


def test_everything_sends_structured_content_and_the_same_as_text(everything: Toolbox) -> None:
    result = everything["every_get-structured-content"].call({"location": "New York"})

    assert result.structured == {"temperature": 33, "conditions": "Cloudy", "humidity": 82}
    assert result.text == '{"temperature":33,"conditions":"Cloudy","humidity":82}'


def test_everything_points_to_resources_without_sending_them(everything: Toolbox) -> None:
    result = everything["every_get-resource-links"].call({"count": 2})

    assert result.parts == (
        TextPart(text="Here are 2 resource links to resources available in this server:"),
        ResourceLinkPart(
            uri="demo://resource/dynamic/blob/1",
            name="Blob Resource 1",
            description="Resource 1: plaintext resource",
            mime_type="text/plain",
        ),
        ResourceLinkPart(
            uri="demo://resource/dynamic/text/2",
            name="Text Resource 2",
            description="Resource 2: plaintext resource",
            mime_type="text/plain",
        ),
    )


def test_everything_sends_a_resource_of_bytes(everything: Toolbox) -> None:
    arguments = {"name": "greeting.gz", "data": "data:text/plain,hi", "outputType": "resource"}

    (part,) = everything["every_gzip-file-as-resource"].call(arguments).parts

    assert isinstance(part, BlobResourcePart)
    assert (part.uri, part.mime_type) == ("demo://resource/session/greeting.gz", "application/gzip")


def test_everything_can_fail_and_its_reason_is_the_text(everything: Toolbox) -> None:
    result = everything["every_gzip-file-as-resource"].call({"data": "file:///nowhere"})

    assert result.is_error
    assert result.text == (
        "Error processing file file:///nowhere: Unsupported URL protocol for file:///nowhere. "
        "Only http, https, and data URLs are supported."
    )


def test_arguments_that_everything_would_refuse_are_not_sent(everything: Toolbox) -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        everything["every_echo"].call({"message": 5})

    assert caught.value.server == "every"


def test_filesystem_offers_fourteen_tools_and_says_which_only_read(files: Toolbox) -> None:
    hints = {tool.remote_name: tool.annotations.read_only for tool in files.tools}

    assert hints == {
        "create_directory": False,
        "directory_tree": True,
        "edit_file": False,
        "get_file_info": True,
        "list_allowed_directories": True,
        "list_directory": True,
        "list_directory_with_sizes": True,
        "move_file": False,
        "read_file": True,
        "read_media_file": True,
        "read_multiple_files": True,
        "read_text_file": True,
        "search_files": True,
        "write_file": False,
    }


def test_filesystem_writes_a_file_and_reads_it_back(files: Toolbox, root: Path) -> None:
    path = str(root / "new.txt")

    files["fs_write_file"].call({"path": path, "content": "new\n"})
    result = files["fs_read_text_file"].call({"path": path})

    assert (root / "new.txt").read_text() == "new\n"
    assert (result.text, result.structured) == ("new\n", {"content": "new\n"})


def test_filesystem_sends_an_image_that_does_not_get_into_the_text(files: Toolbox, root: Path) -> None:
    """The server sends the base64 a second time, as structured content."""
    result = files["fs_read_media_file"].call({"path": str(root / "dot.png")})

    assert result.parts == (ImagePart(data=DOT, mime_type="image/png"),)
    assert DOT not in result.text


def test_filesystem_refuses_a_file_outside_its_folder(files: Toolbox, root: Path) -> None:
    outside = root.parent / "secret.txt"

    result = files["fs_read_text_file"].call({"path": str(outside)})

    assert result.is_error
    assert result.text == f"Access denied - path outside allowed directories: {outside} not in {root}"


def test_memory_keeps_entities_between_calls_and_says_when_one_is_unknown(tmp_path: Path) -> None:
    ada = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
    unknown = {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}

    with Toolbox({"memory": real_servers.memory(tmp_path / "memory.jsonl")}) as toolbox:
        names = _remote_names(toolbox)
        toolbox["memory_create_entities"].call({"entities": [ada]})
        graph = toolbox["memory_read_graph"].call()
        refused = toolbox["memory_add_observations"].call(unknown)

    assert sorted(names) == [
        "add_observations",
        "create_entities",
        "create_relations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "open_nodes",
        "read_graph",
        "search_nodes",
    ]
    assert graph.structured == {"entities": [ada], "relations": []}
    assert (refused.is_error, refused.text) == (True, "Entity with name Nobody not found")


def test_time_converts_between_zones_and_refuses_one_that_does_not_exist() -> None:
    noon_in_tokyo = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}

    with Toolbox({"time": real_servers.clock()}) as toolbox:
        names = _remote_names(toolbox)
        converted = toolbox["time_convert_time"].call(noon_in_tokyo)
        refused = toolbox["time_get_current_time"].call({"timezone": "Nowhere/Land"})

    assert sorted(names) == ["convert_time", "get_current_time"]
    assert converted.structured["target"]["datetime"].endswith("T03:00:00+00:00")
    assert converted.structured["time_difference"] == "-9.0h"
    assert refused.is_error
    assert "No time zone found with key Nowhere/Land" in refused.text


def test_git_shows_the_state_of_its_repository_and_refuses_others(repository: Path) -> None:
    elsewhere = repository.parent

    with Toolbox({"git": real_servers.git(repository)}) as toolbox:
        names = _remote_names(toolbox)
        status = toolbox["git_git_status"].call({"repo_path": str(repository)})
        refused = toolbox["git_git_status"].call({"repo_path": str(elsewhere)})

    assert sorted(names) == [
        "git_add",
        "git_branch",
        "git_checkout",
        "git_commit",
        "git_create_branch",
        "git_diff",
        "git_diff_staged",
        "git_diff_unstaged",
        "git_log",
        "git_reset",
        "git_show",
        "git_status",
    ]
    assert status.text == "Repository status:\nOn branch main\nnothing to commit, working tree clean"
    assert refused.is_error
    assert f"'{elsewhere}' is outside the allowed repository '{repository}'" in refused.text


GITLAB_TOOLS = [
    "create_branch",
    "create_issue",
    "create_merge_request",
    "create_or_update_file",
    "create_repository",
    "fork_repository",
    "get_file_contents",
    "push_files",
    "search_repositories",
]


def test_tools_whose_schema_has_no_type_are_offered_and_each_repair_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The SDK's own client refuses the whole list of this server."""
    with Toolbox({"gitlab": real_servers.gitlab()}) as toolbox:
        names = _remote_names(toolbox)
        roots = [(tool.model_schema["type"], tool.model_schema["properties"]) for tool in toolbox.tools]
        assert toolbox.skipped == ()

    assert sorted(names) == GITLAB_TOOLS
    assert roots == [("object", {})] * len(GITLAB_TOOLS)
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [name for name in GITLAB_TOOLS if not any(name in message for message in warned)] == []


def test_a_protocol_error_in_answer_to_a_call_is_a_failed_call() -> None:
    with (
        Toolbox({"gitlab": real_servers.gitlab()}) as toolbox,
        pytest.raises(ToolExecutionError, match="ECONNREFUSED") as caught,
    ):
        toolbox["gitlab_get_file_contents"].call({"project_id": "a", "file_path": "b"})

    assert (caught.value.server, caught.value.code) == ("gitlab", -32603)

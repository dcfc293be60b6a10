"""`tenner skills` and `tenner mcp test`: their output and their errors."""

import json

import pytest
from click.testing import CliRunner

from tenner_host.cli import main
from tenner_host.mcp import TOKEN
from tenner_sim.services import McpTools


@pytest.fixture
def tenner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(TOKEN, raising=False)
    return lambda *words: CliRunner().invoke(main, words)


def test_skills_are_listed_shown_and_installed(tenner, tmp_path):
    assert "plant-watch" in tenner("skills", "list").output
    assert "--- SENSORS.json\n" in tenner("skills", "show", "plant-watch").output
    done = tenner("skills", "install", "plant-watch")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "workspace" / "skills" / "plant-watch"
    assert (folder / "SKILL.md").read_text().startswith("---\nname: plant-watch\n")
    assert "* plant-watch" in tenner("skills", "list").output
    rows = json.loads(tenner("skills", "list", "--json").output)["skills"]
    assert [row["name"] for row in rows if row["installed"]] == ["plant-watch"]


def test_a_changed_skill_is_not_written_over(tenner, tmp_path):
    tenner("skills", "install", "plant-watch")
    path = tmp_path / "workspace" / "skills" / "plant-watch" / "SKILL.md"
    path.write_text("mine")
    done = tenner("skills", "install", "plant-watch")
    assert done.exit_code == 1 and "--force" in done.output
    assert path.read_text() == "mine"
    assert tenner("skills", "install", "plant-watch", "--force").exit_code == 0
    assert path.read_text() != "mine"
    assert "there is no skill ../x; available: " in tenner("skills", "install", "../x").output


def test_a_server_s_tools_are_listed_and_one_is_called(tenner):
    with McpTools({"weather": "21.5 degrees", "news": "none"}) as server:
        done = tenner("mcp", "test", server.mcp_url, "--name", "home")
        assert done.exit_code == 0, done.output
        assert done.output.startswith(f"{server.mcp_url} answers, with 2 tools:\n")
        assert "home-news" in done.output and "home-weather" in done.output
        assert "news answered:\nnone" in done.output
        done = tenner("mcp", "test", server.mcp_url, "--call", "weather", "--json")
        assert json.loads(done.output)["called"]["text"] == "21.5 degrees"
        done = tenner("mcp", "test", server.mcp_url, "--call", "rain")
        assert done.exit_code == 1
        assert "has no tool rain; it has news, weather" in done.output
        done = tenner("mcp", "test", server.url + "/other")
        assert done.exit_code == 1
        assert "answered 404: check mcp.NAME.url" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "no http or https address: nonsense"),
        (
            ["http://127.0.0.1:1/mcp"],
            "tenner: http://127.0.0.1:1/mcp: the MCP server NAME does not answer as it should",
        ),
        (["http://mcp.invalid/mcp"], "this computer cannot find mcp.invalid: is it online?"),
        (["http://127.0.0.1:1/mcp", "--args", "[]"], "--args must be a JSON object"),
    ],
)
def test_what_is_wrong_is_one_sentence(tenner, words, said):
    done = tenner("mcp", "test", *words)
    assert done.exit_code == 1
    assert said in done.output
    assert "Traceback" not in done.output


def test_the_token_comes_from_the_environment(tenner, monkeypatch):
    monkeypatch.setenv(TOKEN, "of-the-house")
    with McpTools({"news": "none"}, token="of-the-house") as server:
        done = tenner("mcp", "test", server.mcp_url)
        assert done.exit_code == 0, done.output
        assert "of-the-house" not in done.output
        monkeypatch.setenv(TOKEN, "another")
        done = tenner("mcp", "test", server.mcp_url)
        assert done.exit_code == 1
        assert f"check mcp.NAME.token (the token is taken from {TOKEN})" in done.output

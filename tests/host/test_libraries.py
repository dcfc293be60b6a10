"""The libraries that a few commands need: they can be had, and come to the right place."""

import pytest

from tenner_host import ROOT, libraries

REQUIREMENTS = (
    libraries.MATPLOTLIB,
    libraries.PAHO_MQTT,
    libraries.CRYPTOGRAPHY,
    libraries.TRUSTME,
)


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_they_are_those_of_the_project(requirement):
    # The name `tenner` on a package index is somebody else's.
    assert f'"{requirement}"' in (ROOT / "pyproject.toml").read_text()
    assert not requirement.startswith("tenner")


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/x/pipx/venvs/tenner", "pipx inject tenner 'paho-mqtt>=2.1,<3'"),
        (
            "/x/uv/tools/tenner",
            "uv tool install tenner --with 'paho-mqtt>=2.1,<3'",
        ),
        ("/x/tenner/.venv", "/v/python -m pip install 'paho-mqtt>=2.1,<3'"),
    ],
)
def test_the_command_reaches_this_program(prefix, command):
    assert libraries.how_to_install(libraries.PAHO_MQTT, prefix, "/v/python") == command

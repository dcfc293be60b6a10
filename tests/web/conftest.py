"""The browser and axe-core, for every file of this folder."""

import pytest

from tests.services.kit import need
from tests.web import browser


@pytest.fixture(scope="module")
def chromium():
    manager = browser.chromium()
    made = need(manager.__enter__)
    yield made
    manager.__exit__(None, None, None)


@pytest.fixture(scope="module")
def axe():
    return need(browser.axe_source)

"""The root of a host's chain is found over a real TLS handshake, and only from a verified one."""

import ssl

import pytest

from tenner_host.ca_roots import RootError, Unreachable, root_of
from tenner_sim.services import OfflineModel
from tenner_sim.services.authority import Authority


@pytest.fixture
def authority():
    return Authority()


def serve(authority, certificate="right"):
    return OfflineModel(tls=authority.server_context(certificate))


def cafile(authority, folder):
    path = folder / "ca.pem"
    path.write_text(ssl.DER_cert_to_PEM_cert(authority.der))
    return str(path)


def test_the_root_is_found(authority, tmp_path):
    with serve(authority) as model:
        assert root_of(model.base_url, cafile=cafile(authority, tmp_path)) == authority.der


def test_an_unknown_authority_is_refused(authority, tmp_path):
    with (
        serve(authority) as model,
        pytest.raises(RootError, match=r"localhost:\d+ cannot be verified"),
    ):
        root_of(model.base_url)


def test_the_environment_names_an_authority_too(authority, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", cafile(authority, tmp_path))
    with serve(authority) as model:
        assert root_of(model.base_url) == authority.der
        # Another one that is named on the command line takes nothing away.
        (tmp_path / "other").mkdir()
        other = cafile(Authority(), tmp_path / "other")
        assert root_of(model.base_url, cafile=other) == authority.der
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing"))
    with pytest.raises(RootError, match=r"\$SSL_CERT_FILE cannot be read: No such file"):
        root_of("https://127.0.0.1:9/")


def test_who_is_trusted_already_vouches(authority):
    with serve(authority) as model:
        assert root_of(model.base_url, trusted=[authority.der]) == authority.der


def test_nobody_there_is_one_sentence():
    with pytest.raises(RootError, match="cannot be reached"):
        root_of("https://127.0.0.1:9/", timeout_s=2)


def test_a_name_without_an_address_asks_whether_this_computer_is_online():
    with pytest.raises(Unreachable) as caught:
        root_of("https://api.openai.invalid/v1")
    assert str(caught.value) == "this computer cannot find api.openai.invalid: is it online?"

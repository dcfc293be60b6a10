"""The stand-ins' chains are like those of public servers, and each interpreter verifies them."""

import socket
import ssl
import stat
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tenner_host.ca_roots import chain_fault
from tenner_sim.services import OfflineModel
from tenner_sim.services.authority import Authority, chain_bytes
from tenner_sim.services.chains import rsa_key
from tests.host.test_net_tls import ask, interpreter, serve  # noqa: F401

#: The sizes of each chain are near those that public servers were seen to send.
SEEN_BYTES = {
    "small": (500, 800),
    "ecdsa": (2300, 3000),
    "rsa": (2500, 3000),
    "telegram": (4100, 4900),
    "pss": (2500, 3100),
}
KEYS = {
    "small": ["P-256"],
    "ecdsa": ["P-256", "P-256", "P-384"],
    "rsa": ["RSA-2048", "RSA-2048"],
    "telegram": ["RSA-2048", "RSA-2048", "RSA-4096"],
    "pss": ["RSA-2048", "RSA-2048"],
}


@pytest.fixture(scope="module")
def authorities():
    return {chain: Authority("small" if chain == "small" else "rsa") for chain in KEYS}


def kind(pem):
    key = x509.load_pem_x509_certificate(pem.bytes()).public_key()
    if isinstance(key, ec.EllipticCurvePublicKey):
        return f"P-{key.curve.key_size}"
    assert isinstance(key, rsa.RSAPublicKey)
    return f"RSA-{key.key_size}"


@pytest.mark.parametrize("chain", KEYS)
def test_a_chain_has_the_sizes_and_keys_of_public_ones(authorities, chain):
    leaf = authorities[chain].issue(chain=chain)
    low, high = SEEN_BYTES[chain]
    assert low <= sum(chain_bytes(leaf)) <= high
    assert [kind(pem) for pem in leaf.cert_chain_pems] == KEYS[chain]


@pytest.mark.parametrize("chain", KEYS)
def test_every_interpreter_verifies_every_chain(interpreter, authorities, serve, chain, tmp_path):
    authority = authorities[chain]
    authority.write_der(tmp_path)
    server = serve(authority.issue(chain=chain))
    answer = ask(interpreter, tmp_path, server.port)
    if chain == "pss" and "status" not in answer:
        # Most builds of mbedTLS cannot read such a signature.
        assert "RSA-PSS" in answer["sentence"]
        assert server.received == b""
    else:
        assert answer == {"status": 200, "body": "hello"}


@pytest.mark.parametrize("chain", ["ecdsa", "rsa", "telegram"])
@pytest.mark.parametrize("certificate", ["impostor", "no-intermediate", "other-ca"])
def test_no_interpreter_takes_a_chain_without_its_root(
    interpreter,
    authorities,
    serve,
    chain,
    certificate,
    tmp_path,
):
    authority = authorities[chain]
    authority.write_der(tmp_path)
    server = serve(authority.issue(certificate, chain=chain))
    answer = ask(interpreter, tmp_path, server.port)
    assert answer["class"] == "tls"
    assert server.received == b""


def test_a_key_is_made_once_and_is_for_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("TENNER_CACHE", str(tmp_path))
    first = rsa_key("leaf", 2048)
    assert rsa_key("leaf", 2048).private_numbers() == first.private_numbers()
    path = tmp_path / "authority" / "leaf-2048.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_authority_vouches_for_no_other_one():
    with OfflineModel(tls=Authority().server_context()) as model:
        context = Authority().client_context()
        with pytest.raises(OSError, match="certificate verify failed"):
            context.wrap_socket(_connected(model), server_hostname="localhost")


def _connected(model):
    return socket.create_connection(("127.0.0.1", urlsplit(model.url).port))


def test_a_chain_out_of_order_is_not_blamed_on_the_owners_files(interpreter, serve, tmp_path):
    authority = Authority()
    authority.write_der(tmp_path)
    server = serve(authority.issue("misordered", chain="ecdsa"))
    answer = ask(interpreter, tmp_path, server.port)
    if "status" not in answer:
        assert "its chain is wrong" in answer["sentence"]


@pytest.mark.parametrize("ciphers", ["DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384"])
def test_a_server_with_old_ciphers_alone_is_not_blamed_on_tls_1_3(
    interpreter,
    serve,
    ciphers,
    tmp_path,
):
    authority = Authority()
    authority.write_der(tmp_path)
    server = serve(authority.issue())
    server.context.maximum_version = ssl.TLSVersion.TLSv1_2
    server.context.set_ciphers(ciphers)
    answer = ask(interpreter, tmp_path, server.port)
    assert answer["class"] == "tls"
    assert "versions and ciphers" in answer["sentence"]


@pytest.mark.parametrize(
    ("certificate", "chain", "says"),
    [
        ("right", "telegram", None),
        ("right", "small", None),
        ("other-ca", "rsa", None),
        ("misordered", "ecdsa", "in the wrong order"),
        ("no-intermediate", "rsa", "without the certificate of"),
    ],
)
def test_this_computer_tells_what_is_wrong_with_a_chain(serve, certificate, chain, says):
    server = serve(
        Authority("small" if chain == "small" else "rsa").issue(certificate, chain=chain)
    )
    fault = chain_fault("127.0.0.1", server.port)
    assert (fault is None) if says is None else says in fault

"""nginx with one version of TLS and one chain: each interpreter works, or says truly why not.

The results are a table of docs/services.md, by way of build/tls.json.
"""

import json

import pytest

from tenner_host import ROOT, interpreters
from tenner_host.linux import kit
from tenner_sim.services.authority import Authority
from tests.host.test_net_tls import SECRET, ask
from tests.services.agent import INTERPRETERS
from tests.services.kit import need, program
from tests.services.on_nginx import Proxy

RESULTS = ROOT / "build" / "tls.json"
#: Debian's own MicroPython with its libraries is the 32-bit one; `kit` is that of `tenner deploy`.
PYTHONS = (*INTERPRETERS, "kit")
VERSIONS = {"1.2": "TLSv1.2", "1.3": "TLSv1.3", "both": "TLSv1.2 TLSv1.3"}
CHAINS = ("small", "ecdsa", "rsa", "telegram", "pss")
_REFUSED = "versions and ciphers"
_UNREAD = "signature that this board cannot read"
_BROKEN = "Mbed TLS 3.6.6"
#: (certificate, chain, ciphers): the words of the sentence where it does not work.
FAULTS = {
    ("misordered", "ecdsa", ""): "chain is wrong",
    ("no-intermediate", "rsa", ""): "chain is wrong",
    ("impostor", "telegram", ""): "not in /certs",
    ("right", "rsa", "DHE-RSA-AES128-GCM-SHA256"): _REFUSED,
}


def expected(python, version, chain):
    """The words of the sentence where this does not work; "" where it does."""
    if python == "micropython":
        if version == "1.3":
            return _REFUSED
        return _UNREAD if chain == "pss" else ""
    if python == "micropython32" and version == "1.2" and chain in ("rsa", "telegram", "pss"):
        return _BROKEN
    return ""


@pytest.fixture(scope="module")
def kit_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kit")
    try:
        files = kit.kit("amd64")
    except kit.CannotFetch as exc:
        pytest.skip(str(exc))
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755)
    return folder


@pytest.fixture(params=PYTHONS, scope="module")
def python(request):
    """(name, interpreter); None is CPython."""
    name = request.param
    try:
        if name == "kit":
            folder = request.getfixturevalue("kit_folder")
            return name, interpreters.probe(name, kit.command(folder))
        return name, interpreters.FINDERS[name]() if name in interpreters.FINDERS else None
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))


@pytest.fixture(scope="module")
def authorities():
    return {chain: Authority(chain) for chain in CHAINS}


def answer(tmp_path, python, authority, certificate="right", **lines):
    need(program, "nginx")
    proxy = Proxy(
        tmp_path / "nginx", authority, certificate, location="return 200 hello;", **lines
    )
    authority.write_der(tmp_path / "certs")
    with proxy.running():
        found = ask(python[1], tmp_path / "certs", proxy.port)
    log = tmp_path / "nginx" / "access.log"
    assert SECRET not in (log.read_text() if log.exists() else "")
    return found


def keep(python, row, word):
    """Put one cell into the file of results."""
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows.setdefault(row, {})[python] = word
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("chain", CHAINS)
def test_tls_of_a_version_with_a_chain(tmp_path, python, authorities, version, chain):
    lines = f"ssl_protocols {VERSIONS[version]};"
    found = answer(tmp_path, python, authorities[chain], server=lines)
    words = expected(python[0], version, chain)
    row = f"TLS {version}, {chain}"
    keep(python[0], row, "wrong")
    if words:
        assert words in found["sentence"]
        assert "add its DER" not in found["sentence"]
    else:
        assert found == {"status": 200, "body": "hello"}
    keep(python[0], row, f"“{words}”" if words else "works")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault[0]} {fault[2] or fault[1]}")
def test_tls_of_a_server_with_a_fault(tmp_path, python, authorities, fault):
    certificate, chain, ciphers = fault
    lines = f"ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {ciphers or 'DEFAULT'};"
    if ciphers:
        lines = lines.replace(" TLSv1.3", "")
    found = answer(tmp_path, python, authorities[chain], certificate, server=lines)
    row = f"{ciphers.split('-')[0] + ' alone' if ciphers else certificate + ', ' + chain}"
    keep(python[0], row, "wrong")
    # OpenSSL puts a chain into order.
    if certificate == "misordered" and python[0] == "cpython":
        assert found["status"] == 200
    else:
        assert FAULTS[fault] in found["sentence"]
    keep(python[0], row, "works" if "status" in found else f"“{FAULTS[fault]}”")

# bench chip: no encryption, but the memory of a TLS session by its server's chain; without that
# memory it fails as mbedTLS does.
import os

import esp32

PROTOCOL_TLS_CLIENT = CERT_REQUIRED = 0

_SESSION = (16717, 4429, 4100)
_PIECE = 1600
# In Python's heap, of mbedtls 3.6: two certificates, the settings, the random numbers; a session.
_OBJECTS = 1872 + 640


class SSLContext:
    def __init__(self, protocol):
        self.verify_mode = None
        self._mbedtls = bytearray(_OBJECTS)

    def load_verify_locations(self, cadata):
        pass

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        if server_hostname == "-":
            # Nobody speaks: no handshake, and no chain.
            return esp32.session(sock, _SESSION)
        kept, more = _sizes(server_hostname)
        session = esp32.session(sock, _SESSION + (kept,))
        if not esp32.shake(more, _PIECE):
            # Big integers of the check lack memory, and mbedTLS takes that for a wrong signature.
            session.close()
            raise ValueError("The certificate is not correctly signed by the trusted CA")
        return session


def _sizes(host):
    """Return (bytes of the chain, bytes of the handshake), from "HOST:KEPT:MORE ..."."""
    for one in os.getenv("TENNER_CHIP_CHAINS").split():
        name, kept, more = one.split(":")
        if name == host:
            return int(kept), int(more)
    raise ValueError(host)

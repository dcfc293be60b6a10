# bench chip: no encryption, but the memory of a TLS session; ENOMEM without that memory.
import esp32

PROTOCOL_TLS_CLIENT = CERT_REQUIRED = 0

_SESSION = (16717, 4429, 4100)
_HANDSHAKE = 6200  # more, for a moment
_ENOMEM = 12
# In Python's heap, of mbedtls 3.6: two certificates, the settings, the random numbers; a session.
_OBJECTS = 1872 + 640


class SSLContext:
    def __init__(self, protocol):
        self.verify_mode = None
        self._mbedtls = bytearray(_OBJECTS)

    def load_verify_locations(self, cadata):
        pass

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        session = esp32.session(sock, _SESSION)
        handshake = esp32.take(_HANDSHAKE)
        if not handshake:
            session.close()
            raise OSError(_ENOMEM)
        esp32.give(handshake)
        return session

"""Names that every MicroPython from 1.22 on has in ROM, on chips and on Unix: they cost no RAM.

A compiled module encodes a name of STATIC in one byte or two (py/makeqstrdata.py of MicroPython).
It holds the others as text, which the loader finds in ROM. The tests ask the interpreters.
"""

from __future__ import annotations

#: For arguments of functions, the cheapest first.
ARGUMENTS = (
    "_ args append all any abs self value key end start stop step index items keys sep values "
    "write zip update tuple type"
).split()

#: Part of the .mpy format; without the names that the compiler treats specially.
STATIC = """
id chr dir get int len map ord pop pow set str sum bool copy dict eval exec find hash iter join
list main next open read repr sort bytes clear count lower print range rfind round split strip
upper divmod extend format insert little locals lstrip object remove rindex rsplit rstrip sorted
getattr globals hasattr isalpha isdigit islower isspace isupper popitem replace reverse setattr
builtins bytecode callable endswith readinto readline to_bytes bytearray from_bytes isinstance
issubclass setdefault startswith classmethod staticmethod OSError EOFError Ellipsis KeyError
NoneType Exception NameError TypeError IndexError SystemExit ValueError ImportError LookupError
MemoryError SyntaxError RuntimeError BaseException GeneratorExit OverflowError StopIteration
AssertionError AttributeError ArithmeticError IndentationError KeyboardInterrupt
ZeroDivisionError NotImplementedError
""".split()

#: The shortest first.
ROM = """
T e n cb gc EIO GS8 PTR bin erf md5 min oct off ps1 ps2 ptr ssl sub tau tls AUTO GZIP Lock Loop
Task UINT VOID ZLIB acos argv asin atan auth bind blit ceil core dump erfc exit fabs fill fmod
help host idle load log2 mem8 mkfs modf path peek poll poly post ptr8 recv seed seek sha1 sqrt
stat tell ARRAY EBADF EPERM Event MVLSB ULONG acosh asinh atan2 atanh chdir cmath crc32 deque
drain dumps errno expm1 flags floor flush frexp group heapq hline input ioctl ipoll isinf isnan
ldexp loads log10 match mem16 mem32 mkdir patch phase pixel polar ptr16 ptr32 rmdir slice stdin
ticks trunc union vline BFINT8 BF_LEN BF_POS EACCES EAGAIN EEXIST EINVAL EISDIR ENODEV ENOENT
ENOMEM IOBase NATIVE POLLIN RGB565 RingIO Server Signal Stream UINT64 USHORT VfsFat accept
aclose buffer center choice decode delete digest enable encode fileno filter getcwd getter
gmtime is_set lgamma listen mktime modify poller rename scroll search select sendto setter
sha256 sizeof socket stderr stdout stream struct umount unlink AF_INET BFINT16 BFINT32 BFUINT8
BytesIO ENOBUFS FLOAT32 FLOAT64 IOQueue POLLERR POLLHUP POLLOUT VfsLfs2 acquire collect compile
complex content deflate degrees delattr deleter disable discard ellipse encrypt fromhex hashlib
heapify heappop install isclose maxsize modules popleft radians randint release request sendall
statvfs time_ns uctypes uniform urandom AF_INET6 BFUINT16 BFUINT32 EALREADY ENOTCONN GS2_HMSB
GS4_HMSB LockType Response SOCK_RAW StringIO binascii bytes_at calcsize copysign cur_task
execfile framebuf fromkeys getvalue heappush ilistdir isfinite issubset kbd_intr libc_ver
makefile mem_free mem_info property recvfrom requests reversed schedule sleep_ms sleep_us
ticks_ms ticks_us wait_for CERT_NONE DeflateIO ETIMEDOUT MONO_HLSB MONO_HMSB MONO_VLSB TaskQueue
ULONGLONG addressof awritestr byteorder cryptolib dict_keys enumerate errorcode fill_rect
frozenset get_ident heap_lock isenabled localtime mem_alloc opt_level pack_into qstr_info
randrange readlines stack_use threshold ticks_add ticks_cpu unhexlify websocket BIG_ENDIAN
EADDRINUSE ECONNRESET EOPNOTSUPP SOCK_DGRAM SOL_SOCKET SSLContext a2b_base64 appendleft
b2a_base64 dict_items isdisjoint issuperset memoryview namedtuple pend_throw queue_read
readblocks rpartition setsockopt settimeout soft_reset splitlines stack_size ticks_diff
unregister EINPROGRESS FrameBuffer OrderedDict SOCK_STREAM collections create_task dict_values
get_ciphers getaddrinfo getrandbits heap_unlock queue_write readexactly run_forever set_ciphers
setblocking unpack_from verify_mode wait_closed wait_for_ms wrap_socket writeblocks ECONNABORTED
ECONNREFUSED EHOSTUNREACH FrameBuffer1 MSG_DONTWAIT SO_BROADCAST SO_REUSEADDR StreamReader
StreamWriter TimeoutError UnicodeError bytearray_at current_task intersection start_server
version_info CERT_OPTIONAL CERT_REQUIRED LITTLE_ENDIAN allocate_lock stream_awrite time_pulse_us
wait_io_event CancelledError NotImplemented ThreadSafeFlag ViperTypeError get_event_loop
get_extra_info implementation new_event_loop MBEDTLS_VERSION load_cert_chain open_connection
print_exception python_compiler start_new_thread SingletonGenerator StopAsyncIteration
run_until_complete PROTOCOL_TLS_CLIENT PROTOCOL_TLS_SERVER intersection_update
PROTOCOL_DTLS_CLIENT PROTOCOL_DTLS_SERVER symmetric_difference get_exception_handler
load_verify_locations set_exception_handler call_exception_handler default_exception_handler
symmetric_difference_update
""".split()

#: Names of both that are no attribute of MicroPython's own objects which its code would look up.
ATTRIBUTES = """
id abs all any chr dir int len map ord pow str sum zip bool dict eval exec hash iter list main
next open repr self bytes print range round tuple divmod little locals object sorted getattr
globals hasattr setattr builtins bytecode callable bytearray isinstance issubclass classmethod
staticmethod OSError EOFError Ellipsis KeyError NoneType Exception NameError TypeError
IndexError SystemExit ValueError ImportError LookupError MemoryError SyntaxError RuntimeError
BaseException GeneratorExit OverflowError StopIteration AssertionError AttributeError
ArithmeticError IndentationError KeyboardInterrupt ZeroDivisionError NotImplementedError T n cb
gc EIO GS8 PTR bin erf md5 min oct off ps1 ps2 ptr ssl sub tau tls AUTO GZIP Lock Loop Task UINT
VOID ZLIB acos argv asin atan auth blit ceil dump erfc exit fabs fill fmod help host idle load
log2 mem8 mkfs modf path poll poly post ptr8 seed sha1 sqrt stat ARRAY EBADF EPERM Event MVLSB
ULONG acosh asinh atan2 atanh chdir cmath crc32 deque dumps expm1 flags floor frexp group heapq
hline input ipoll isinf isnan ldexp loads log10 match mem16 mem32 mkdir patch phase pixel polar
ptr16 ptr32 rmdir slice stdin ticks trunc vline BFINT8 BF_LEN BF_POS EACCES EAGAIN EEXIST EINVAL
EISDIR ENODEV ENOENT ENOMEM IOBase NATIVE POLLIN RGB565 RingIO Server Signal Stream UINT64
USHORT VfsFat aclose choice delete digest enable filter getcwd gmtime lgamma mktime modify
poller rename scroll search select sha256 sizeof socket stderr stdout stream struct umount
unlink AF_INET BFINT16 BFINT32 BFUINT8 BytesIO ENOBUFS FLOAT32 FLOAT64 IOQueue POLLERR POLLHUP
POLLOUT VfsLfs2 collect compile complex content deflate degrees delattr disable ellipse encrypt
hashlib heapify heappop install isclose maxsize modules popleft radians randint request statvfs
time_ns uctypes uniform urandom AF_INET6 BFUINT16 BFUINT32 EALREADY ENOTCONN GS2_HMSB GS4_HMSB
LockType Response SOCK_RAW StringIO binascii bytes_at calcsize copysign cur_task execfile
framebuf heappush ilistdir isfinite kbd_intr libc_ver mem_free mem_info property requests
reversed schedule sleep_ms sleep_us ticks_ms ticks_us wait_for CERT_NONE DeflateIO ETIMEDOUT
MONO_HLSB MONO_HMSB MONO_VLSB TaskQueue ULONGLONG addressof awritestr byteorder cryptolib
dict_keys enumerate errorcode fill_rect frozenset get_ident heap_lock isenabled localtime
mem_alloc opt_level pack_into qstr_info randrange stack_use threshold ticks_add ticks_cpu
unhexlify websocket BIG_ENDIAN EADDRINUSE ECONNRESET EOPNOTSUPP SOCK_DGRAM SOL_SOCKET SSLContext
a2b_base64 appendleft b2a_base64 dict_items memoryview namedtuple pend_throw readblocks
soft_reset stack_size ticks_diff unregister EINPROGRESS FrameBuffer OrderedDict SOCK_STREAM
collections create_task dict_values get_ciphers getaddrinfo getrandbits heap_unlock run_forever
set_ciphers unpack_from verify_mode wait_for_ms wrap_socket writeblocks ECONNABORTED
ECONNREFUSED EHOSTUNREACH FrameBuffer1 MSG_DONTWAIT SO_BROADCAST SO_REUSEADDR StreamReader
StreamWriter TimeoutError UnicodeError bytearray_at current_task start_server version_info
CERT_OPTIONAL CERT_REQUIRED LITTLE_ENDIAN allocate_lock stream_awrite time_pulse_us
wait_io_event CancelledError NotImplemented ThreadSafeFlag ViperTypeError get_event_loop
implementation new_event_loop MBEDTLS_VERSION load_cert_chain open_connection print_exception
python_compiler start_new_thread SingletonGenerator StopAsyncIteration run_until_complete
PROTOCOL_TLS_CLIENT PROTOCOL_TLS_SERVER PROTOCOL_DTLS_CLIENT PROTOCOL_DTLS_SERVER
get_exception_handler load_verify_locations set_exception_handler call_exception_handler
default_exception_handler center deleter fromhex fromkeys getter intersection
intersection_update isdisjoint islower isspace issubset issuperset isupper popitem rindex setter
splitlines symmetric_difference symmetric_difference_update union
""".split()

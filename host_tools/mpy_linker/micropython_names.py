"""Names of MicroPython: those of its modules, and those in its ROM.

Every MicroPython from 1.22 on has the latter, on chips and on Unix: they cost no RAM. A compiled
module encodes a name of STATIC in one byte or two (py/makeqstrdata.py of MicroPython). It holds
the others as text, which the loader finds in ROM. The tests ask the interpreters.
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

#: Every name that MicroPython's own modules have, on Unix and on ESP32: an attribute of one of
#: these may belong to a foreign object, so a build never renames it. The Unix part is the output
#: of `dir`, the rest comes from the published stubs of the ESP32 port.
NAMES = frozenset(
    """
ADC ADCBlock ADCWiPy ADDR_LEN AF_INET AF_INET6 AF_UNIX AIOESPNow ALARM0 ALT ALT_OPEN_DRAIN ANALOG
APA106 AP_IF ARRAY ATTN_0DB ATTN_11DB ATTN_2_5DB ATTN_6DB AUTH_CHAP AUTH_MAX AUTH_NONE AUTH_OPEN
AUTH_OWE AUTH_PAP AUTH_WAPI_PSK AUTH_WEP AUTH_WPA2_ENTERPRISE AUTH_WPA2_PSK AUTH_WPA2_WPA3_PSK
AUTH_WPA3_ENT_192 AUTH_WPA3_EXT_PSK AUTH_WPA3_EXT_PSK_MIXED_MODE AUTH_WPA3_PSK AUTH_WPA_PSK
AUTH_WPA_WPA2_PSK AUTO AbstractBlockDev AbstractNIC AnyReadableBuf AnyWritableBuf Arg
ArgumentParser ArgumentTypeError ArithmeticError AssertionError AttributeError B1000000 B115200
B1152000 B230400 B460800 B500000 B57600 B576000 B921600 B9600 BANDWIDTH_160 BANDWIDTH_20
BANDWIDTH_40 BANDWIDTH_80 BANDWIDTH_80_80 BFINT16 BFINT32 BFINT8 BFUINT16 BFUINT32 BFUINT8 BF_LEN
BF_POS BIG_ENDIAN BLE BOOT BaseException BodyStream Buffer BytesIO CERT_NONE CERT_OPTIONAL
CERT_REQUIRED CLEAR CONFIG CONTROLLER CORE_TEMP CORE_VBAT CORE_VREF CTS CancelledError ChainMap
Const_T Counter DAC DEBUG DECREMENT DEEPSLEEP DEEPSLEEP_RESET DELAY DESC DHT11 DHT22 DHTBase DOWN
DRIVE_0 DRIVE_1 DRIVE_2 DRIVE_3 DS18X20 DefaultArg DefaultNamedArg DeflateIO EACCES EADDRINUSE
EAGAIN EALREADY EBADF ECONNABORTED ECONNREFUSED ECONNRESET EEXIST EHOSTUNREACH EINPROGRESS EINVAL
EIO EISDIR ENOBUFS ENODEV ENOENT ENOMEM ENOTCONN ENOTSUP EOFError EOPNOTSUPP EPERM ESPNow
ESPNowBase ETH_CONNECTED ETH_DISCONNECTED ETH_GOT_IP ETH_INITIALIZED ETH_STARTED ETH_STOPPED
ETIMEDOUT EXT0_WAKE EXT1_WAKE Ellipsis Encoder Event Exception FALLING FLAG_INDICATE FLAG_NOTIFY
FLAG_READ FLAG_WRITE FLAG_WRITE_NO_RESPONSE FLOAT32 FLOAT64 FlexibleAlias FrameBuffer FrameBuffer1
GS2_HMSB GS4_HMSB GS8 GZIP GeneratorExit GenericAlias HARD_RESET HEAP_DATA HEAP_EXEC HID_Tuple HOLD
I2C I2S IDLE ID_T IF_AP IF_STA IGNORE IN INCL INCREMENT INT INT16 INT32 INT64 INT8 INV_CTS INV_RTS
INV_RX INV_TX IOBase IOBase_mp IOQueue IPPROTO_IP IPPROTO_SEC IPPROTO_TCP IPPROTO_UDP
IP_ADD_MEMBERSHIP IP_DROP_MEMBERSHIP IRQ_BREAK IRQ_FALLING IRQ_HIGH_LEVEL IRQ_INDEX IRQ_LOW_LEVEL
IRQ_MATCH IRQ_MAX IRQ_MIN IRQ_RESET IRQ_RISING IRQ_ROLL_OVER IRQ_ROLL_UNDER IRQ_RX IRQ_RXIDLE
IRQ_THRESHOLD0 IRQ_THRESHOLD1 IRQ_TXIDLE IRQ_ZERO ImportError IndentationError IndexError KEY_LEN
KeyError KeyboardInterrupt KwArg LAN LITTLE_ENDIAN LOG_DEBUG LOG_ERROR LOG_INFO LOG_NONE
LOG_VERBOSE LOG_WARNING LONG LONGLONG LS LSB Lock LockType LookupError Loop MATCH_ROM MAX_DATA_LEN
MAX_ENCRYPT_PEER_NUM MAX_TOTAL_PEER_NUM MBEDTLS_VERSION MODE_11B MODE_11G MODE_11N MODE_CBC
MODE_CTR MODE_ECB MODE_LR MONO MONO_HLSB MONO_HMSB MONO_VLSB MP_StatResult MP_StatVfsResult
MQTTClient MQTTException MSB MSG_DONTROUTE MSG_DONTWAIT MSG_PEEK MVLSB Man MemoryError NATIVE
NORMAL NVS NameError NamedArg NeoPixel NoReturn NotImplemented NotImplementedError ONE_SHOT
OPEN_DRAIN ORDER OSError OUT OneWire OneWireError OrderedDict OverflowError PCNT PERIODIC
PHY_DM9051 PHY_DP83848 PHY_GENERIC PHY_IP101 PHY_KSZ8041 PHY_KSZ8081 PHY_KSZ8851SNL PHY_LAN8670
PHY_LAN8710 PHY_LAN8720 PHY_RTL8201 PHY_W5500 PIN_WAKE PM_NONE PM_PERFORMANCE PM_POWERSAVE POLLERR
POLLHUP POLLIN POLLOUT PPP PROTOCOL_DEFAULT PROTOCOL_DTLS_CLIENT PROTOCOL_DTLS_SERVER PROTOCOL_LR
PROTOCOL_TLS_CLIENT PROTOCOL_TLS_SERVER PTR PULL_DOWN PULL_HOLD PULL_UP PULSE_MAX PWD PWM
PWRON_RESET Partition PathLike Pin PinBase RATE_11M RATE_12M RATE_1M RATE_24M RATE_2M RATE_54M
RATE_5M RATE_6M RATE_LORA_250K RATE_LORA_500K RAW RC RESERVE_MEM REVERSE RGB565 RISING RMT RTC
RTC_WAKE RTS RUNNING RX Response RingIO RuntimeError SDCard SEARCH_ROM SEC_CHAP SEC_DPP SEC_NONE
SEC_OPEN SEC_OWE SEC_PAP SEC_WAPI SEC_WEP SEC_WPA SEC_WPA2 SEC_WPA2_ENT SEC_WPA2_WPA3
SEC_WPA2_WPA3_ENT SEC_WPA3 SEC_WPA3_ENT SEC_WPA3_ENT_192 SEC_WPA3_EXT_PSK
SEC_WPA3_EXT_PSK_MIXED_MODE SEC_WPA_ENT SEC_WPA_WPA2 SHORT SKIP_ROM SLEEP SLEEP_LIGHT SLEEP_MODEM
SLEEP_NONE SOCK_DGRAM SOCK_RAW SOCK_STREAM SOFT_RESET SOL_SOCKET SO_BINDTODEVICE SO_BROADCAST
SO_ERROR SO_KEEPALIVE SO_LINGER SO_REUSEADDR SPI SSLContext STAT_ASSOC_FAIL STAT_BEACON_TIMEOUT
STAT_CONNECTING STAT_CONNECT_FAIL STAT_GOT_IP STAT_HANDSHAKE_TIMEOUT STAT_IDLE STAT_NO_AP_FOUND
STAT_NO_AP_FOUND_IN_AUTHMODE_THRESHOLD STAT_NO_AP_FOUND_IN_RSSI_THRESHOLD
STAT_NO_AP_FOUND_W_COMPATIBLE_SECURITY STAT_WRONG_PASSWORD STA_IF STEREO Server Signal
SingletonGenerator Socket SoftI2C SoftSPI StopAsyncIteration StopIteration StrOrBytesPath Stream
StreamReader StreamWriter StringIO Subscriptable SyntaxError SystemExit T TCP_NODELAY TCSANOW
TIMER_WAKE TOUCHPAD_WAKE TX TYPE_APP TYPE_DATA Task TaskQueue ThreadSafeFlag TimeoutError Timer
TouchPad TypeError TypedDict UART UINT UINT16 UINT32 UINT64 UINT8 ULONG ULONGLONG ULP ULP_WAKE UP
USHORT UUID UnicodeError UserDict UserList UserString VOID VREF ValueError VarArg VfsFat VfsLfs1
VfsLfs2 VfsPosix VfsRom ViperTypeError WAKEUP_ALL_LOW WAKEUP_ANY_HIGH WAKE_HIGH WAKE_LOW WDT
WDT_RESET WIDTH_10BIT WIDTH_11BIT WIDTH_12BIT WIDTH_13BIT WIDTH_9BIT WLAN WLANWiPy WLAN_WAKE ZLIB
ZeroDivisionError a2b_base64 abs accept accept_conn aclose acos acosh acquire active add
add_argument add_peer addressof aes airecv alarm all alloc_emergency_exception_buf allocate_lock
allowed_mip_url_prefixes antenna any append appendleft arecv argparse args argv array as_bytearray
asend asin asinh asm_thumb asm_xtensa asyncio atan atan2 atanh atexit atten auth awrite awritestr
b2a_base64 bdev bin binascii bind bitstream bitstream_channel bitstream_rmt blit block board bool
bpp buf buffer bytearray bytearray_at byteorder bytes bytes_at calcsize call_exception_handler
callable callback cancel capitalize casefold cat cb cd ceil center change_daemon channel chdir
check_bootsec check_msg choice chr classmethod clear client_id client_s clock clock_div close cmath
collect collections commit compile complex config connect const content convert_temp copy copysign
core coro cos cosh count country cp crc32 crc8 create_task cryptolib csi_available csi_disable
csi_dropped csi_enable csi_read cur_task current_task data datetime decode decorator decrypt
deepsleep default_exception_handler default_factory defaultdict deflate degrees deinit del_peer
delattr delay delete deleter deque dht_readinto dict dict_items dict_keys dict_values difference
difference_update digest dir disable disable_irq discard disconnect divmod done drain drive dump
dumps duty duty_ns duty_u16 e elements ellipse enable enable_irq encode encoding encrypt endswith
enumerate erase_key erf erfc errno errorcode eval event exc_info exec execfile executable exists
exit exp expandtabs expm1 extend extendleft fabs factorial feed ffi fileno fill fill_rect filter
find flags flash_erase flash_read flash_size flash_user_start flash_write float floor flush fmod
format format_map framebuf freq frexp from_bytes fromhex fromkeys frozenset fs_corrupted func gamma
gap_advertise gap_connect gap_disconnect gap_pair gap_passkey gap_scan gather
gattc_discover_characteristics gattc_discover_descriptors gattc_discover_services
gattc_exchange_mtu gattc_read gattc_write gatts_indicate gatts_notify gatts_read
gatts_register_services gatts_set_buffer gatts_write gc get get_blob get_ciphers get_daemon_status
get_event_loop get_exception_handler get_extra_info get_i32 get_ident get_next_update get_peer
get_peers getaddrinfo getattr getcwd getenv getpass getrandbits getter getvalue globals gmtime
gpio_matrix_in gpio_matrix_out group hasattr hash hashlib head heap_lock heap_unlock heapify
heappop heappush heapq help hex hexdigest hexlify hline host hostname humidity i16 i32 i64 id
idf_heap_info idle ifconfig ilistdir implementation index inet_ntop inet_pton inf info init input
input_choice input_pass insert install int intersection intersection_update io ioctl ipconfig ipoll
irecv irq is_set isalnum isalpha isascii isclose isconnected isdecimal isdigit isdisjoint isenabled
isfinite isidentifier isinf isinstance islower isnan isnumeric isprintable isspace issubclass
issubset issuperset istitle isupper items iter join json kbd_intr keepalive keys ldexp len lgamma
libc_ver lightsleep line list listdir listen listen_s ljust load load_binary load_cert_chain
load_verify_locations loads locals localtime locked log log10 log2 loop loop_count lower ls lstrip
lw_msg lw_qos lw_retain lw_topic mac machine main makefile maketrans man map mapping maps
mark_app_valid_cancel_rollback match math max maxlen maxsize md5 measure mem16 mem32 mem8 mem_alloc
mem_backup mem_current mem_free mem_info mem_peak mem_total memory memoryview micropython min mip
mkdir mkfs mktime mod_peer mode modf modify modules most_common mount move_to_end mp_available mv
mypyc_attr n name namedtuple nan native new_child new_event_loop newfile next nodename object oct
off on open open_connection opt_level ord os osdebug ow pack pack_into parents parse parse_args
parse_known_args partition patch path peek peer_count peers_table pend_throw ph_key phase phases
phy_mode pi pid pin ping pixel platform polar poll poller poly pop popitem popleft port post pow
print print_exception property ps1 ps2 pswd ptr ptr16 ptr32 ptr8 publish pull push put putenv pwd
python_compiler qstr_info queue_read queue_write radians randint random randrange range raw
raw_temperature re read read_scratch read_temp read_u16 read_uv readbit readblocks readbyte
readexactly readfrom readfrom_into readfrom_mem readfrom_mem_into readinto readline readlines
reconnect rect recv recvfrom recvinto register release remove removeprefix removesuffix rename
replace repr request requests reset reset_cause reverse reversed rfind rindex rjust rm rmdir
rom_ioctl rotate round rpartition rsplit rstrip run run_forever run_until_complete scan schedule
scroll search seed seek select select_rom send send_html sendall sendbreak sendto sep server
server_handshake set set_blob set_boot set_callback set_ciphers set_exception_handler set_i32
set_last_will set_native_code_location set_pmk set_wakeup_period setattr setblocking setdefault
setraw setsockopt setter settime settimeout setup setup_conn sha1 sha256 shift sin sinh sizeof
sleep sleep_ms sleep_type sleep_us slice sock sockaddr socket soft_reset sort sorted source_freq
split splitlines sqrt ssid ssl ssl_params stack_size stack_use start start_foreground
start_new_thread start_server startswith stat state static_host staticmethod stats status statvfs
stderr stdin stdout step stop str stream stream_awrite strip struct sub subscribe subtract sum
super swapcase symmetric_difference symmetric_difference_update sys sysname system tan tanh tau
tcgetattr tcsetattr tell temperature termios text threshold throw ticks ticks_add ticks_cpu
ticks_diff ticks_ms ticks_us time time_ns time_pulse_us timeout timing title tls to_bytes toggle
total trait translate trigger trunc tuple txdone type u8 uctypes uint umount uname_result unhexlify
uniform union unique_id unlink unpack unpack_from unregister unsetenv unsubscribe update upper
urandom usage user value values verify_mode version version_info vfs viper vline wait wait_closed
wait_done wait_for wait_for_ms wait_io_event wait_msg wake_on_ext0 wake_on_ext1 wake_on_gpio
wake_on_touch wake_on_ulp wake_pins wake_reason websocket width wrap_socket write write_pulses
write_readinto write_scratch writebit writeblocks writebyte writeto writeto_mem writevto zfill zip
""".split()
)

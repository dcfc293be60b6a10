# tenner link: joins Wi-Fi, sets the clock and speaks HTTPS, step by step; runs on the board.
# MIT license; Copyright (c) 2026 the tenner authors
#
# Uses nothing of the agent: this has to work on a board without one, or with a broken one.


def t_wlan():
    import network

    wlan = network.WLAN(0)
    wlan.active(True)
    return wlan


def t_scan():
    for row in t_wlan().scan():
        print(repr((row[0], row[3], row[4])))


def t_join(ssid, key, limit_s):
    import time

    wlan = t_wlan()
    if not (wlan.isconnected() and wlan.config("ssid") == ssid):
        # The driver refuses a connect() while another is under way.
        wlan.disconnect()
        time.sleep_ms(200)
        # Otherwise it tries forever, and never reports a reason.
        wlan.config(reconnects=1)
        wlan.connect(ssid, key)
        for _ in range(limit_s * 10):
            if wlan.isconnected() or 200 <= wlan.status() < 210:
                break
            time.sleep_ms(100)
        wlan.config(reconnects=-1)
    t_link()


def t_link():
    wlan = t_wlan()
    up = wlan.isconnected()
    try:
        strength = wlan.status("rssi") if up else None
    except (OSError, ValueError):
        strength = None
    print(repr((up, wlan.status(), strength, wlan.ifconfig() if up else None)))


def t_clock(host):
    import time

    import ntptime

    ntptime.host = host
    for left in (2, 1, 0):
        try:
            ntptime.settime()
            break
        except OSError as error:
            if not left:
                print(repr(("!", str(error))))
                return
    print(repr((int(time.time()) + (946684800 if time.gmtime(0)[0] == 2000 else 0), "")))


def t_trust():
    import os

    try:
        import ssl
    except ImportError:
        import tls as ssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        names = os.listdir("/certs")
    except OSError:
        names = ()
    for name in names:
        if name.endswith(".der"):
            with open("/certs/" + name, "rb") as file:
                data = file.read()
            if ssl.__name__ == "tls":
                context.load_verify_locations(data)
            else:
                context.load_verify_locations(cadata=data)
    return context


def t_fetch(host, port, secure, request, limit_s):
    import binascii
    import gc
    import socket
    import time

    step = "dns"
    begun = time.ticks_ms()
    link = None
    gc.collect()
    try:
        address = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0][-1]
        step = "connect"
        link = socket.socket()
        link.settimeout(limit_s)
        link.connect(address)
        if secure:
            step = "tls"
            link = t_trust().wrap_socket(link, server_hostname=host)
        step = "answer"
        link.write(request)
        part = memoryview(bytearray(512))
        left = 4096
        count = link.readinto(part)
        while count and left > 0:
            print(binascii.b2a_base64(part[:count]).decode(), end="")
            left -= count
            count = link.readinto(part)
    except Exception as error:
        print("!", repr((step, type(error).__name__, error.args)))
    finally:
        if link:
            link.close()
    print("=", time.ticks_diff(time.ticks_ms(), begun))

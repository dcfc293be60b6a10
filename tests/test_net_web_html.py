# tenner tests: HTML to text, whole, cut at every byte, and broken.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import unittest

from tenner.net.web.charset import charset_in, unescape
from tenner.net.web.html import Html


def text_of(data, size=None, charset="", links=None):
    """The text of a page that comes in pieces of `size` bytes; addresses go into `links`."""
    parts = []

    def link(address):
        links.append(address)
        return len(links)

    page = Html(parts.append, charset, None if links is None else link)
    size = size or len(data) or 1
    for at in range(0, len(data), size):
        page.feed(data[at : at + size])
    page.end()
    return b"".join(parts).decode()


# (html, text)
PAGES = (
    (b"", ""),
    (b"plain", "plain"),
    (b"  two \n\t words  ", "two words"),
    (b"<p>one</p><p>two</p>", "one\n\ntwo"),
    (b"<p>one<p>two", "one\n\ntwo"),
    (b"<div>one</div><div>two</div>three", "one\ntwo\nthree"),
    (b"<div><div><div>deep</div></div></div>end", "deep\nend"),
    (b"a<br>b<br/>c<br><br>d", "a\nb\nc\n\nd"),
    (b"<b>bo</b>ld <i> it</i>al", "bold ital"),
    (b"<title>T</title><h1>One</h1><h3>Three</h3>x", "T\n\n# One\n\n### Three\n\nx"),
    (b"<h2></h2>x", "x"),
    (b"<hr>a<hr>b", "a\n\nb"),
    # elements not for reading
    (b"a<script>if (1 < 2) document.write('<p>no</p>')</script>b", "ab"),
    (b"a<SCRIPT type=x>no</ScRiPt >b", "ab"),
    (b"a<style>p > a {}</style>b<noscript>c</noscript>", "abc"),
    (b"a<script>no", "a"),
    (b"a<!-- <p>no</p> -- > -->b<!---->c<!-->d", "abcd"),
    (b"<!DOCTYPE html><?xml x?>a<![CDATA[x]]>b", "ab"),
    (b"a<template><p>no</p></template>b<svg><title>no</title></svg>c<svg/>d", "abcd"),
    (b"<select><option>no<option>no</select>a<textarea><p>no</textarea>b", "ab"),
    (b"<div hidden>no<div>no</div>no</div>a", "a"),
    (b"<p style='color:red; DISPLAY : none'>no</p>a", "a"),
    (b"<span style=visibility:hidden>no</span>a", "a"),
    (b"<input hidden>a<br hidden>b", "ab"),
    (b"<p hidden>no<p>a", "a"),
    (b"<div>b<p hidden>no</div>a", "b\na"),
    (b"<ul><li>a<li hidden>no<ul><li>no</ul>no<li>b</ul>c", "- a\n- b\n\nc"),
    (b"<ul><li hidden>no</ul>a", "a"),
    (b"<table><tr><td hidden>no<td>a<tr hidden><td>no</td><tr><td>b</table>", "a\nb"),
    (b"<p title='hidden display'>a</p>", "a"),
    (b"<div data-hidden=1 style='display:block'>a</div>", "a"),
    # lists and tables
    (b"<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc"),
    (b"<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"),
    (b"<ol><li>a<ol><li>b</ol><li>c</ol>", "1. a\n  1. b\n2. c"),
    (b"<ol start=7><li><p>a</p></li><li></li><li>b</ol>", "7. a\n\n9. b"),
    (b"<ol start=x><li>a</ol>", "1. a"),
    (b"</ul></ol><li>a", "- a"),
    (b"<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n  b\nc\n  d"),
    (b"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
    (b"<table><tr><td>a<td>b<tr><td>c<td>d</table>e", "a | b\nc | d\n\ne"),
    (b"<table><tr><td><p>a</p></td><td></td><td><div>b</div>c</td></tr></table>", "a | | b\nc"),
    (b"<table><tr><td></td><td>a</td></tr></table>", "| a"),
    (b"<table><tr><th><th>a<tr><th>b<td>c<tr><td><td><td>d</table>", "| a\nb | c\n| | d"),
    (b"<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>", "a\n\nb | c\n\nd"),
    (b"<table><caption>t</caption><tbody><tr><td>a</tbody></table>", "t\na"),
    # preformatted
    (b"<pre>\n a\n  b\n</pre>c", " a\n  b\n\n\nc"),
    (b"<pre>a &lt; b\r\n<b>c</b></pre>", "a < b\nc"),
    # entities and letters
    (b"&lt;p&gt; &amp;amp; &quot;&apos;", "<p> &amp; \"'"),
    (b"&auml;&Auml;&Omega;&omega;&szlig;&Oslash;&Scaron;&euro;&hellip;", "äÄΩωßØŠ€…"),
    (b"&#228;&#xe4;&#Xe4;&#128;&#x1F600;", "äää€😀"),
    (b"&#0;&#xd800;&#1114112;&#x110000;", "\ufffd\ufffd\ufffd\ufffd"),
    (b"AT&T &nope; &amp &copy 2020 & &; &#; &#x; &#x", "AT&T &nope; & © 2020 & &; &#; &#x; &#x"),
    (b"a&nbsp;b &nbsp; c\xc2\xa0d soft&shy;ly", "a b c d softly"),
    ("ä € 😀 日本".encode(), "ä € 😀 日本"),
    # links and pictures
    (b"10<sup>3</sup> <img alt='a  &lt;b'><img><img alt=''>", "10^3 [a <b]"),
    # broken
    (b"a < b <3 <> </> </ x>c", "a < b <3 <> c"),
    (b"a<", "a<"),
    (b"a<b", "a"),
    (b"a</", "a"),
    (b"a<p title='x>b", "a\n\nb"),
    (b"a<p title='x", "a"),
    (b"<p title=\"a>b\" class='c>d' id = e>f", "f"),
    (b"<p class=it's>a</p><p title=x\">b", "a\n\nb"),
    (b"<p <b>a</p>", "a"),
    (b"</p></div></table></a></h1></pre>a", "a"),
    (b"<a href=x><a href=y>b</a></a>c", "bc"),
    (b"<b><p></b>a</p>", "a"),
    (b"\0a\0<\0p>b", "a\n\nb"),
    (b"a<p" + b" x=y" * 400 + b">b", "a\n\nb"),
    (b"a<img src='data:" + b"QUJD" * 700 + b"'>b", "ab"),
    (b"a<p title='" + b"x" * 1500 + b">b", "a\n\nb"),
    (b"<ul>" * 40 + b"<li>a" + b"</ul>" * 40 + b"b", "  " * 7 + "- a\n\nb"),
)


class TestHtml(unittest.TestCase):
    def test_pages_become_text(self):
        for data, text in PAGES:
            self.assertEqual(text_of(data), text, data)

    def test_cut_at_every_byte(self):
        for data, text in PAGES:
            self.assertEqual(text_of(data, 1), text, data)
            for at in range(1, len(data) if len(data) < 400 else 0):
                parts = []
                page = Html(parts.append)
                page.feed(data[:at])
                page.feed(data[at:])
                page.end()
                self.assertEqual(b"".join(parts).decode(), text, (data, at))

    def test_cut_past_the_look_ahead(self):
        # Before its charset is known a page is only gathered; here it is known from the start.
        for data, text in PAGES:
            for size in (1, 2, 3, 7):
                self.assertEqual(text_of(data, size, "utf-8"), text, (data, size))

    def test_links_are_numbered(self):
        data = (
            b"<a href='/a?b=1&amp;c=2'>one</a> <a href=two>t<b>w</b>o </a>, <a name=x>three</a>"
            b"<a href='#here'>four</a><a href=five></a><a href=six>six<a href=' seven '>seven"
        )
        for size in (None, 1, 5):
            links = []
            text = text_of(data, size, "", links)
            self.assertEqual(text, "one[1] two[2] , threefoursix[3]seven[4]")
            self.assertEqual(links, [b"/a?b=1&c=2", b"two", b"six", b"seven"])
        self.assertEqual(text_of(data), "one two , threefoursixseven")

    def test_charsets_of_a_page(self):
        head = (
            b"<head><title>x</title><meta http-equiv=content-type content='text/html; charset=%s'>"
        )
        for name, data, text in (
            (b"ISO-8859-1", b"\xe4\xdf\x80\x93", "äß€“"),
            (b"windows-1252", b"\xe4\x80", "ä€"),
            (b"iso-8859-15", b"\xe4\xa4", "ä€"),
            (b"UTF-8", b"\xc3\xa4", "ä"),
            (b"us-ascii", b"a", "a"),
            (b"koi8-r", b"a\xc1\xc2b &auml;", "a??b ä"),
        ):
            page = head % name + b"<p>" + data
            for size in (None, 1):
                self.assertEqual(text_of(page, size), "x\n\n" + text)
            self.assertEqual(text_of(data, 1, name.decode()), text)
        parts = []
        page = Html(parts.append, "koi8-r")
        self.assertIn("koi8-r", page.charset.note)
        self.assertEqual(Html(parts.append, "latin1").charset.note, "")

    def test_the_charset_a_page_names(self):
        for data, name in (
            (b"<META CHARSET = x><meta charset='Utf-8'/>", "utf-8"),
            (b'<meta charset="utf-8">', "utf-8"),
            (b"<meta charset=utf-8>", "utf-8"),
            (b"<meta content='text/html;charset=Latin1;x'>", "latin1"),
            (b"<p>charset=utf-16", ""),
            (b"<meta charset=", ""),
            (b"<meta charset=\xff>", ""),
            (b"\xff\xfe<\0p\0", "utf-16"),
            (b"\xef\xbb\xbf<meta charset=latin1>", "utf-8"),
            (b"", ""),
        ):
            self.assertEqual(charset_in(data), name, data)

    def test_pages_in_utf_16_stay_readable(self):
        data = b"\xff\xfe" + b"".join([bytes((byte, 0)) for byte in b"<p>one</p>two"])
        self.assertEqual(text_of(data, 1), "one\n\ntwo")
        self.assertEqual(text_of(b"\xef\xbb\xbf<p>one", 1), "one")

    def test_unescape_leaves_what_is_no_entity(self):
        for data in (b"&", b"a & b", b"&&&", b"&x", b"&unknown;", b"&#xzz;", b"?a=1&b=2"):
            self.assertEqual(unescape(data), data)

    def test_memory_does_not_grow_with_the_page(self):
        size = 0

        def add(piece):
            nonlocal size
            size += len(piece)

        page = Html(add)
        row = b"<tr><td class='x'>cell &auml;<td>other <a href=/y>link</a><ul><li>one<div>"
        most = least = 0
        for number in range(400):
            page.feed(row)
            if hasattr(gc, "mem_alloc") and number in (50, 399):
                gc.collect()
                least, most = most, gc.mem_alloc()
        self.assertTrue(size > 400 * 20)
        # MicroPython's measure; on CPython the parser's own state is looked at.
        self.assertTrue(most - least < 1024, (least, most))
        self.assertTrue(len(page._rest) < 2048 and len(page._lists) <= 8)


if __name__ == "__main__":
    unittest.main()

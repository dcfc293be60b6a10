"""Pages as the web has them, made up for the tests: `PAGES` is {name: bytes}, `large()` makes the
long ones."""

_LOREM = (
    "The lighthouse keeper wrote down the wind every three hours, and nobody read it for forty "
    "years. Then a student found the books, typed them in, and the record of the coast began a "
    "century earlier."
)


def _page(title, body, head=""):
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta '
        f'charset="utf-8"><title>{title}</title>{head}'
        f"</head>\n<body>{body}</body></html>\n"
    )


_SCRIPTS = (
    '<script>window.data = {"a": "<p>not text</p>"}; if (1 < 2 && 3 > 2) { run("</div>"); '
    '}</script><script type="application/ld+json">{"@type":"Article","name":"not text"}</script>'
    "<style>p > a { color: red } .x::before { content: '<b>not text</b>' }</style>"
    '<link rel=stylesheet href="/a.css"><meta name=description content="not text">'
)

_NAV = (
    '<nav class="menu"><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li>'
    '<li><a href="/about">About us</a></li></ul></nav>'
)
_FOOTER = (
    '<footer><p>&copy; 2026 The Example &middot; <a href="/privacy">Privacy</a> | '
    '<a href="/imprint">Imprint</a></p></footer>'
)

_TEXTS = {
    "news": _page(
        "Old records of the wind",
        f"{_NAV}<header><h1>Old records of the wind</h1><p class=byline>By <b>A. Keeper</b>, "
        '<time datetime="2026-11-21">21 November</time></p></header><article>'
        f"<p>{_LOREM}</p><figure><img src=a.jpg alt='A lighthouse'><figcaption>The tower in 1906."
        f"</figcaption></figure><h2>What is in them</h2><p>{_LOREM}</p><blockquote><p>Nobody had "
        "asked."
        "</p></blockquote></article><aside><h3>Read "
        f"more</h3><ul><li>Tides<li>Fog</ul></aside>{_FOOTER}",
        _SCRIPTS,
    ),
    "wiki": _page(
        "Anemometer",
        '<div id="content"><h1>Anemometer</h1><table class="infobox"><tbody><tr><th '
        "colspan=2>Anemometer"
        "</th></tr><tr><th>Measures</th><td>wind "
        "speed</td></tr><tr><th>Unit</th><td>m/s</td></tr></tbody>"
        '</table><p>An <b>anemometer</b> measures <a href="/wiki/Wind">wind</a> speed.'
        '<sup id="cite-1"><a href="#note-1">[1]</a></sup> It was described by '
        '<a href="/wiki/Alberti">Leon Battista Alberti</a> in 1450.</p><div '
        'id="toc"><h2>Contents</h2><ul><li><a href="#Cups"><span>1</span> '
        '<span>Cups</span></a><ul><li><a href="#Three"><span>1.1</span> '
        "<span>Three cups</span></a></li></ul></li></ul></div><h2><span "
        "id=Cups>Cups</span><span>[<a "
        'href="/edit">edit</a>]</span></h2><p>Four cups, later three.</p><ol '
        'class="references"><li><a '
        'href="#cite-1">^</a> A book, 1846.</li></ol></div>',
        _SCRIPTS,
    ),
    "weather": _page(
        "Weather in Kiel",
        "<h1>Kiel</h1><p>Now: <span class=t>7&deg;C</span>, wind "
        "5&nbsp;m/s</p><table><thead><tr><th>Hour</th><th>Temperature</th><th>Rain</th></tr></thead><tbody>"
        + "".join(
            f"<tr><td>{h:02}:00</td><td>{h / 2 + 1:.1f} &deg;C</td><td>{h % 4} mm</td></tr>"
            for h in range(24)
        )
        + "</tbody></table>",
    ),
    "docs": _page(
        "machine.I2C",
        f"{_NAV}<main><h1>class I2C</h1><dl><dt><code>I2C.scan()</code></dt><dd><p>Scan all "
        "addresses between 0x08 and 0x77.</p></dd><dt><code>I2C.readfrom(addr, nbytes, "
        "stop=True, /)</code></dt><dd>"
        "<p>Read <em>nbytes</em> from the peripheral.</p></dd></dl><pre><code>from machine "
        "import I2C\n\n"
        "i2c = I2C(0)\nfor a in i2c.scan():\n    if a &lt; 0x10:\n        print(a)\n</code></pre>"
        "<div class=note><p>Note: this is <strong>hardware</strong>.</p></div></main>",
    ),
    "forum": _page(
        "Thread: no answer at 0x48",
        "".join(
            f'<div class="post" id="p{n}"><div class="user"><b>user{n}</b><br>{n * 7} posts</div>'
            '<div class="body"><p>Did you check the pull-ups, number '
            f"{n}?</p><blockquote>user{n - 1} "
            f"wrote:<br>It says ENODEV.</blockquote></div></div><hr>"
            for n in range(1, 12)
        ),
    ),
    "shop": _page(
        "TMP102 breakout",
        "<h1>TMP102 breakout</h1><p class=price><del>9,95&nbsp;&euro;</del> "
        "<ins>7,50&nbsp;&euro;</ins></p><form action=/cart><label>Quantity <input type=number "
        "value=1></label><select name=color><option>red<option>blue</select><button>Add to "
        "cart</button><input type=hidden value=secret></form><ul>"
        "<li>1.4 V to 3.6 V</li><li>&plusmn;0.5 &deg;C</li></ul><div style='display:none'>Cookie "
        "wall</div>",
    ),
    "recipe": _page(
        "Flat bread",
        "<h1>Flat bread</h1><h2>You need</h2><ul><li>&frac12; cup of water</li><li>2 cups of "
        "flour</li><li>a pinch of salt</li></ul><h2>Steps</h2><ol><li>Mix.</li><li>Knead for 10 "
        "minutes.<ul><li>or "
        "longer</li></ul></li><li>Bake at 250&deg;.</li></ol>",
    ),
    "timetable": _page(
        "Line 7",
        "<table border=1><caption>Line 7, "
        "weekdays</caption><tr><th>Stop<th>1<th>2<th>3<tr><td>Harbor<td>6:10<td>6:30<td>6:50<tr><td>Market<td>6:18<td><td>6:58<tr><td>Station<td>6:25<td>6:45<td>7:05"
        "</table>",
    ),
    "readme": _page(
        "owner/repo",
        "<article><h1><a href=#x></a>repo</h1><p><img alt='build passing' src=b.svg></p><p>A "
        "small "
        "thing.</p><h2>Install</h2><div class=highlight><pre>pip install <span "
        "class=k>repo</span>\n</pre>"
        "</div><ul class=tasks><li><input type=checkbox checked> done</li><li><input "
        "type=checkbox> "
        "open</li></ul></article>",
    ),
    "nineties": (
        "<HTML><HEAD><TITLE>Bob's Home Page</TITLE></HEAD><BODY BGCOLOR=#FFFFFF><CENTER><FONT "
        "SIZE=+3>Welcome!!!</FONT></CENTER><P>This page is <BLINK>under "
        "construction</BLINK>.<P>My links:<UL><LI><A HREF=a.html>My cat</A><LI><A HREF=b.html>My "
        "other cat</A></UL><HR><I>Last updated 1997"
    ),
    "frames": (
        "<html><head><title>Frames</title></head><frameset cols='20%,80%'><frame "
        "src=menu.html><frame src=main.html><noframes><body>Your browser has no "
        "frames.</body></noframes></frameset></html>"
    ),
    "mailing-list": _page(
        "[dev] Patch",
        "<h1>[dev] Patch</h1><b>A Person</b> <a href=mailto:x>a at example.com</a><br><i>Mon Nov "
        "2</i><hr>"
        "<pre>On Monday B wrote:\n&gt; why?\n&gt;&gt; because\n\nSee below.\n\n--- a/x.c\n"
        "+++ b/x.c\n"
        "@@ -1 +1 @@\n-if (a &lt; b)\n+if (a &lt;= b)\n</pre>",
    ),
    "rfc": _page(
        "RFC 9999",
        "<pre>Network Working Group                                    A. Author\n\n\n"
        "     A Protocol\n\n"
        "Abstract\n\n   This document has <a href='#s1'>one section</a>.\n\n1.  Introduction\n\n"
        "   The key "
        'words "MUST" and "MAY".\n</pre>',
    ),
    "changelog": _page(
        "Changes",
        "".join(
            (
                f"<h2 id=v{n}>1.{n}.0</h2><ul><li>Fix #{n}1</li><li>Add "
                f"<code>--flag{n}</code></li></ul>"
            )
            for n in range(9, 0, -1)
        ),
    ),
    "faq": _page(
        "FAQ",
        "<details open><summary>Why?</summary><p>Because.</p></details><details><summary>How?</summary>"  # noqa: E501
        "Slowly.</details><dl><dt>Where<dd>Here<dt>When<dd>Now</dl>",
    ),
    "newsletter": _page(
        "Weekly",
        "<table width=100%><tr><td align=center><table "
        "width=600><tr><td><h1>Weekly</h1></td></tr><tr><td><p>Dear "
        f"reader,</p><p>{_LOREM}</p></td></tr><tr><td><table><tr><td width=50%><p>Left story</p>"
        "</td><td><p>Right story</p></td></tr></table></td></tr></table></td></tr></table>",
    ),
    "cookie-banner": _page(
        "Article",
        "<div id=banner hidden><p>We value your "
        f"privacy</p><div><button>Accept</button></div></div><p>{_LOREM}"
        "</p><div class=modal style='visibility: "
        "hidden'><h2>Subscribe!</h2><p>No</p></div><p>End.</p>",
    ),
    "app-shell": _page(
        "App",
        '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript>'
        "<script src=main.js></script><template><p>{{ name }}</p></template>",
    ),
    "xhtml": (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 '
        'Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html '
        'xmlns="http://www.w3.org/1999/xhtml">'
        "<head><title>Strict</title><script type='text/javascript'>//<![CDATA[\nif (a<b) x();\n"
        "//]]>"
        "</script></head><body><p>One<br />two<hr /><img src='a' alt='three' /></p></body></html>"
    ),
    "conditional-comments": _page(
        "Old",
        "<!--[if lt IE 9]><p>Update your browser</p><![endif]--><p>A<!-- -- b > c "
        "-->B</p><!----><p>C</p>"
        "<!--><p>D</p><!-- E --><p>F</p>",
    ),
    "entities": _page(
        "Entities",
        "<p>&lt;tag&gt; &amp;amp; &quot;quoted&quot; &#8364;&#x20AC; &euro; &hellip; &mdash; "
        "&ldquo;a&rdquo; "
        "&Auml;&ouml;&szlig; &alpha;&Omega; 5&nbsp;km &frac12; &rarr; &le; &copy 2026 AT&T R&D "
        "&unknown;</p>",
    ),
    "german": _page("Übersicht", "<h1>Größe</h1><p>Fünf Äpfel für 3,50 €. „Schön“, sagte er.</p>"),
    "japanese": _page(
        "天気", "<h1>東京の天気</h1><p>晴れ、最高気温 21 度。</p><ul><li>風<li>雨</ul>"
    ),
    "arabic": _page("الطقس", "<div dir=rtl><h1>الطقس</h1><p>مشمس اليوم</p></div>"),
    "emoji": _page("🌤", "<p>Sunny 😀 <span>👩‍👩‍👧</span> done ✅</p>"),
    "formula": _page(
        "Units",
        (
            "<p>E = mc<sup>2</sup>, H<sub>2</sub>O, "
            "10<sup>-3</sup></p><math><mi>x</mi><mo>=</mo><mn>2</mn></math>"
        ),
    ),
    "deep-divs": _page(
        "Deep", "<div>" * 600 + "<p>The bottom</p>" + "</div>" * 600 + "<p>Out</p>"
    ),
    "deep-lists": _page("Lists", "<ul><li>a" * 20 + "</li></ul>" * 20 + "<p>Out</p>"),
    "deep-inline": _page("Bold", "<b><i>" * 150 + "word" + "</i></b>" * 150),
    "no-closing-tags": (
        "<title>Open</title><body><h1>Head<p>One<p>Two<ul><li>a<li>b<ul><li>c</ul><li>d</ul><table><tr><td>1<td>2"
        "<tr><td>3<td>4</table><dl><dt>T<dd>D<dt>U<dd>E</dl><p>End"
    ),
    "misnested": _page(
        "Bad",
        "<p><b>one <i>two</b> three</i> four<p><a href=x>five<div>six</a></div></span></p>seven",
    ),
    "stray-marks": _page(
        "Stray",
        "<p>a < b and c > d, x<y? <3 & &; <> </> 1 &lt 2 \"quoted\" 'it's'</p></b></table></p>",
    ),
    "attributes": _page(
        "Attributes",
        "<p title=\"a > b\" data-x='<i>' onclick=\"if (a>b) alert('x')\">one</p><p class=it's "
        "id=x/y>two</p>"
        '<a href=/a?b=1&c=2 title="it\'s">three</a><p =x "y" \'z\'>four</p><IMG ALT=five SRC=x>',
    ),
    "upper-case": "<HTML><BODY><H1>LOUD</H1><SCRIPT>no()</SCRIPT><P>text</P><STYLE>x</STYLE></BODY></HTML>",  # noqa: E501
    "fragment": "just text, <b>no</b> page &amp; no head",
    "icons": _page(
        "Icons",
        '<a href=/><svg viewBox="0 0 24 24"><title>Home icon</title><path d="M0 '
        '0h24"/></svg>Home</a> '
        "<button><svg/><span>Search</span></button><p>x<svg><g><text>no</text></g></svg>y</p>",
    ),
    "gallery": _page(
        "Gallery",
        "".join(
            (
                f'<a href="/p/{n}"><img src="data:image/png;base64,{"QUJD" * 150}" alt="Photo '
                f'{n}"></a> '
            )
            for n in range(6)
        ),
    ),
    "calendar": _page(
        "November",
        "<table><tr><th>Mo<th>Tu<th>We<th>Th<th>Fr<th>Sa<th>Su</tr>"
        + "".join(
            "<tr>"
            + "".join(f"<td>{d if 0 < d < 31 else ''}</td>" for d in range(w, w + 7))
            + "</tr>"
            for w in range(-5, 30, 7)
        )
        + "</table>",
    ),
    "legal": _page(
        "Terms",
        "<ol><li><p>Scope</p><ol type=a><li>These terms</li><li>apply.</li></ol></li></ol><p>As "
        "amended:</p>"
        "<ol start=2><li>Duration</li><li>End</li></ol>",
    ),
    "poem": _page(
        "Poem",
        "<p>The wind<br>went out<br/>\n<br />and came back</p><address>Me<br>Here</address>",
    ),
    "minified": _page(
        "Min", "<div><span>a</span><span>b</span></div><div>c</div><ul><li>d</li><li>e</li></ul>f"
    ),
    "spaced": _page(
        "Spaced", "\n\n   <p>\n\t one\n\n   two </p>\n\n\n<p>  <b> three </b> , four\n</p>\t\n" * 3
    ),
    "search-results": _page(
        "wind - search",
        "<form><input name=q value=wind></form>"
        + "".join(
            f'<div class=r><h3><a href="https://example.com/{n}">Result '
            f"{n}</a></h3><cite>example.com › {n}"
            f"</cite><p>About the <em>wind</em>, part {n}…</p></div>"
            for n in range(10)
        ),
    ),
    "data-table": _page(
        "Data",
        "<table><colgroup><col><col></colgroup><thead><tr><th rowspan=2>Station<th "
        "colspan=2>Wind</tr><tr><th>mean<th>gust</tr></thead><tbody><tr><td><a "
        "href=/a>North</a></td><td>5.1</td><td>9</td></tr><tr "
        "hidden><td>no</td></tr><tr><td><p>South</p><p>(new)</p></td><td>4.0</td><td>-</td></tr></tbody>"
        "<tfoot><tr><td>2 stations</td></tr></tfoot></table>",
    ),
    "media": _page(
        "Media",
        "<video controls><source src=a.mp4>No video for you</video><iframe src=x>no "
        "frame</iframe><canvas>no"
        "</canvas><audio>no</audio><object>no</object><p>Text</p><textarea>no</textarea>",
    ),
}

PAGES = {name: text.encode() for name, text in _TEXTS.items()}
PAGES["latin-1"] = (
    "<html><head><meta http-equiv=Content-Type content='text/html; "
    "charset=ISO-8859-1'><title>Größe</title><body><p>Fünf Äpfel, 10 °C</p>"
).encode("latin-1")
PAGES["windows-1252"] = (
    "<meta charset=windows-1252><title>“Wind”</title><p>It’s 5 € – or more…</p>"
).encode("cp1252")


def large(kind, size):
    """Yield the pieces of a page of about `size` bytes: "rows" of a table, or "open" paragraphs
    and lists."""
    yield b"<!DOCTYPE html><meta charset=utf-8><title>Large</title>"
    yield b"<table>" if kind == "rows" else b"<ul>"
    sent = number = 0
    while sent < size:
        number += 1
        piece = (
            f"<tr class='r{number % 7}'><td>{number}</td><td>value "
            f"<b>{number * 37 % 1000}</b></td>"
            f"<td><a href='/row/{number}'>more&hellip;</a><script>x({number})</script></td></tr>\n"
            if kind == "rows"
            else f"<p>entry {number}<li>one<li>two of {number} <p class=x>three"
        ).encode()
        sent += len(piece)
        yield piece

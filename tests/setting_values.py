# tenner tests: wrong values of every setting, made from its row of the table.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`wrong_json(type)` are JSON texts, for a file; `wrong_texts(type)` are texts that a person may
type. Each has at least 20, and none of them is right for a setting of the type.
"""

import json

#: Texts that no setting takes: control characters of each kind, the rest of half a letter.
CONTROLS = [
    "a%sb" % chr(code)
    for code in (0, 1, 7, 8, 9, 10, 11, 12, 13, 27, 31, 127, 128, 133, 155, 159, 0xFFFD)
] + ["\x1b[31mred\x1b[0m", "x\r\nY: z", "\n", "x" * 5000]
#: In JSON; half of a pair, too.
_CONTROLS = [json.dumps(text) for text in CONTROLS] + ['"a\\ud800"', '"\\udfff"', '"a\\udc00b"']
#: No text, and nothing else.
_NO_TEXT = [
    "1.5",
    "1e999",
    "-1e999",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    '["a"]',
    '{"a": 1}',
    "[[]]",
]

#: Texts that are none of the type.
_TEXTS = {
    "bool": "maybe|2|truee|null|[]|{}|1.5|-1|enabled|00|on off|NaN|\u00e9|-|allow|t|f|yes!|0x1",
    "hours": (
        "8-22-1|25:00-26:00|08:00|08:00-08:00|08:00-24:30|8:00-22:00|08:00\u201322:00|08.00-22.00|"
        "24:00-08:00|always|08:00-22:00-23:00|-|08:00-|-08:00|\u0660\u0668:00-22:00|8am-10pm|"
        "08:60-22:00|08:00 22:00|08:00-22:00,|true|8/22|25-26|8-8|8-22h|from 8 to 22"
    ),
    "topic": "a/#|+/a|$SYS|#|+|$|$a/b|a+b|a#b|/+/|a/+|#/a|$share/a/b",
    "policy": (
        "perhaps|ALLOW|allow |yes|true|5|none|off|deny!|*|null|{}|[{}]|[null]|[true]|[[]]|[1.5]|["
        "|allow;deny|asks|[read"
    ),
    "list": (
        '[|[5|[[]]|[null]|[true]|[1.5]|[{}]|["a"|[a]|["a" "b"]|[,]|[5, null]|["a\\nb"]|[]]|[\'a\']'
    ),
    "objects": (
        'a|5|{}|[5]|[{}]|[{"model": 5}]|[{"model": "a", "x": 1}]|[null]|[[]]|["a"]|{"model": "a"}|'
        '[{"model": ""}]|[{"model": "a", "api": "x"}]|[{"model": "a", "base_url": "x"}]|true|null|'
        '[{"model": "a", "max_tokens": 1}]|[{"model": "a\\nb"}]|[{"name": "a"}]'
        "|[|1e999|[5, 5]"
    ),
    "zone": (
        "Nowhere|Nowhere/Land|+99:00|../etc/passwd|Paris|CET-1CEST,M3.5.0|Berlin/Europe|NaN|5|"
        "CET-1CEST,M13.5.0,M10.5.0|GMT+99|CET-1CEST,M3.5.0,M10.5.0/999|null|true|[]|-|+|"
        "<+03-3|CET-1CEST,J400,J1|Europe|/|UTC0,"
    ),
    "url": (
        "x|http://|ftp://a|http:/a|https://a b|http://a:99999|a.b/c|http://a:0|http://a:x|5|true|"
        "//a|https://:80|https://<host>/v1|https://a:80:90|HTTPS//a|https:a|www.a.b|null|[]|"
        "http://a:\u0665|file:///etc/passwd"
    ),
    "host": (
        "http://a|a b|a/b|u@a|a:8883|a?b|a#b|<nas>|a,b|a;b|mqtt://a:1883|/a|a\\b|'a'|\"a\"|a:|:1"
    ),
    "duration": (
        "soon|5x|-5m|1.5|null|[]|true|m|1h30|5 m|NaN|1.5h|\u00bdh|\u00b2|\u0665m|"
        "99999999999999999999d|forever|{}|+5m|5,5m|1e999"
    ),
    "int": (
        "many|1.5|true|null|[]|{}|-1000000000000|1000000000000|NaN|1e999|5 s|\u0665|\u00b2|--5|"
        "0x10|1,000|1e3|[5]|+5|99999999999999999999999999999999999999|inf|5m"
    ),
    "number": (
        "north|true|[]|{}|1e9|-1e9|NaN|inf|1e999|-1e999|52N|1,5|52\u00b0|\u00b2|--5|+|1.5.2|[1]|"
        "181|-181|0x10"
    ),
    "choice": "perhaps|5|null|[]|{}|true|false|1.5|1e999|*|none|a\\|b|on,off|Reply|-|\u00e9",
}
#: Values of a file that are no text, beside those of _NO_TEXT.
_MORE = {
    "id": ["[null]"],
    "bool": ["1", "0", "-1", '"true"', '"yes"', '"off"', "[true]"],
    "hours": ["8", "822"],
    "list": [
        '"a"', '"a,b"', "5", "1.5", "true", "false", "null", "{}", '{"a": 1}', "[[]]", "[null]",
        "[true]", "[1.5]", "[{}]", '["a\\nb"]', '["\\ud800"]', '["a", false]', '[["a"]]', "1e999",
        '""', '["%s"]' % ("x" * 5000), '["a\\u0000"]',
    ],
    "policy": ['""', "1", "[{}]", "[null]", "[true]", '["a\\nb"]', '["\\ud800"]', "[1.5]"],
    "int": ['""', '"5"', "1e3", "0.5"],
    "number": ['""', '"1.5"'],
    "duration": ['""', "-5"],
    "zone": ['""', "0"],
}  # fmt: skip


#: A person may write these at the computer, which puts them straight.
UNDERSTOOD = ("8:00-22:00", "08:00\u201322:00", "08.00-22.00")


def kind(type_text):
    """Return `int` of `int(1..100)`."""
    return type_text.split("(")[0]


def wrong_texts(type_text):
    """Return texts that a person may type, none of them a value of the type."""
    name = kind(type_text)
    limits = type_text[len(name) + 1 : -1]
    found = _split(_TEXTS.get(name, ""))
    low, _, high = limits.partition("..")
    if name in ("int", "number"):
        found += ["%d" % (int(low) - 1), "%d" % (int(high) + 1)]
    elif name == "duration":
        # 0 is "off".
        found += ["%ds" % (int(high) + 1)] + (["%ds" % (int(low) - 1)] if int(low) > 1 else [])
    elif name == "choice":
        for one in limits.split("|"):
            found += [one.upper(), one + " ", " " + one, one + "x"] if one else []
        found.append(limits)
    elif limits == "port":
        found = [one for one in found if one != "a:8883"] + ["a:0", "a:99999", "a:x", "a:-1"]
    elif limits == "name":
        found += ['a"b', "a{b", "a}b", "a`b", "a'b", "a\u202eb"]
    elif name == "str" and limits:
        found += ["x" * (int(high) + 1), "\u00fc" * (int(high) // 2 + 1)]
    return found + CONTROLS


def wrong_json(type_text):
    """Return JSON texts, none of them a value of the type."""
    name = kind(type_text)
    if name == "list":
        return _MORE[name]
    found = list(_MORE.get(name, ()))
    if name in ("objects", "policy"):
        found += [one for one in _split(_TEXTS[name]) if _is_json(one)]
    if name != "objects":
        found += [
            one
            for one in _NO_TEXT
            if not (name == "bool" and one in ("true", "false"))
            and not (name == "number" and one in ("null", "1.5"))
            and not (name == "policy" and one in ("[]", '["a"]'))
            and not (name == "duration" and one == "false")
        ]
        if name in ("int", "number", "duration"):
            found += [one for one in wrong_texts(type_text) if _is_number(one)]
        found += [json.dumps(text) for text in wrong_texts(type_text) if text not in CONTROLS]
    else:
        found += ['"a"']
    return found + _CONTROLS


def _split(texts):
    return [one.replace("\0", "|") for one in texts.replace("\\|", "\0").split("|") if one]


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    # MicroPython's parser takes more than JSON.
    return text[:1] in "[{" and text[-1:] in "]}"


def _is_number(text):
    return text.lstrip("-").encode().isdigit() and len(text) < 40 and text[:2] != "--"

"""The modules of the page become one file."""

import json
import re
import shutil
import subprocess

import pytest

from tenner_host import page_files

MODULES = {
    "app.js": 'import { add, Sum } from "./sum.js";\nimport * as words from "./words.js";\n'
    "console.log(JSON.stringify([add(1, 2), new Sum(4).value, words.title, words.up('a')]));\n",
    "sum.js": "export function add(a, b) { return a + b; }\n"
    "export class Sum { constructor(value) { this.value = add(value, start); } }\n"
    "const start = 1;\n",
    "words.js": 'import { add } from "./sum.js";\nexport const title = "w" + add(1, 1);\n'
    "export const up = (text) => text.toUpperCase();\n",
}


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node: apt install nodejs")
def test_one_file_does_what_the_modules_do(tmp_path):
    (tmp_path / "one.mjs").write_text(page_files.joined(MODULES, "app.js"))
    done = subprocess.run(
        ["node", tmp_path / "one.mjs"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [3, 5, "w2", "A"]


def test_each_module_is_there_once_behind_those_that_it_imports():
    text = page_files.joined(MODULES, "app.js")
    places = [text.index(f"const ${name} = (") for name in ("sum", "words", "app")]
    assert places == sorted(places)
    assert text.count("function add") == 1


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        "export let one = 1;",
        "export { one };",
        'import one from "./sum.js";',
        'import { add as plus } from "./sum.js";',
    ],
)
def test_another_form_is_named(line):
    modules = {**MODULES, "app.js": line + "\n"}
    with pytest.raises(ValueError, match="app.js: .* is a form"):
        page_files.joined(modules, "app.js")


def test_a_circle_is_named():
    modules = {**MODULES, "sum.js": 'import { up } from "./words.js";\n'}
    with pytest.raises(ValueError, match="sum.js: it imports itself"):
        page_files.joined(modules, "app.js")


def test_the_page_is_four_files():
    assert set(page_files.page()) == {"index.html", "style.css", "icon.svg", "app.js"}
    assert b"\nexport " not in page_files.page()["app.js"]


def test_sizes_of_type_and_colors_are_tokens_of_the_style():
    style = page_files.page()["style.css"].decode()
    tokens, _, rules = style.partition("* { box-sizing")
    assert re.findall(r"#[0-9a-f]{3,8}\b(?=[^{]*;)", rules) == []
    assert re.findall(r"font(?:-size)?: [\d.]+rem", rules) == []
    defined = set(re.findall(r"(--[\w-]+):", style))
    used = set(re.findall(r"var\((--[\w-]+)", style))
    assert used <= defined
    assert set(re.findall(r"(--[\w-]+):", tokens)) <= used

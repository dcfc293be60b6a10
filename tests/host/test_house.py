"""The figures of the house and their budgets (scripts/house.py)."""

import ast

from scripts import check_imports, house


def _tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _house(folder):
    app = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from tenner.parts import low\n"
    low = (
        "from tenner import overlay\n\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n"
        "    from tenner import app\n\n\nasync def go(app: 'app.App'):\n"
        '    await overlay.run("A", go)\n    await overlay.step("A", go, 1)\n'
    )
    return _tree(
        folder,
        {
            "firmware/main.py": "",
            "firmware/tenner/__init__.py": "",
            "firmware/tenner/app.py": app,
            "firmware/tenner/overlay.py": "def step(): pass\n",
            "firmware/tenner/parts/low.py": low,
            "firmware/layout.toml": '# words\n[core]\nmodules = ["tenner.app: App run"]\n',
            "host_tools/tenner_host/__init__.py": "",
        },
    )


def test_the_marks_count_imports_for_types(tmp_path):
    marks = dict(house.marks(_house(tmp_path)))
    assert marks["circles_with_types"] == 1 and marks["modules_in_the_largest_circle"] == 2
    assert (marks["functions_that_take_the_app"], marks["overlay_calls"]) == (1, 2)
    assert marks["modules_with_overlay_calls"] == 1
    assert (marks["table_lines"], marks["table_symbols"]) == (2, 2)


def test_lines_and_modules_are_counted_by_package(tmp_path):
    found = house.figures(_house(tmp_path))
    assert found["firmware.modules"] == {"(top)": 1, "tenner": 3, "tenner.parts": 1}
    assert found["firmware.lines"]["tenner.parts"] == 10
    assert found["host.modules"] == {"tenner_host": 1}


def test_a_figure_above_its_budget_is_a_sentence():
    found = {"firmware.lines": {"tenner.page": 120, "tenner.new": 7}}
    problems = house.exceeded(found, {"firmware.lines": {"tenner.page": 100}})
    assert problems == [
        "[firmware.lines] tenner.page is 120, its budget 100: make it smaller, or raise it in "
        "scripts/budgets.toml and say why in the commit",
        "[firmware.lines] tenner.new is 7: scripts/budgets.toml has no row",
    ]
    assert house.exceeded(found, {"firmware.lines": {"tenner.page": 120, "tenner.new": 50}}) == []


def test_budgets_fall_and_never_rise():
    budgets = {"house": {"circles": 6}, "firmware.lines": {"tenner": 3400, "gone": 50, "big": 100}}
    found = {"house": {"circles": 4}, "firmware.lines": {"tenner": 3120, "big": 130, "new": 9}}
    assert house.lowered(found, budgets) == {
        "house": {"circles": 4},
        "firmware.lines": {"tenner": 3150, "big": 100},
    }


def test_the_written_budgets_are_those_read(tmp_path):
    path = tmp_path / "budgets.toml"
    budgets = {"house": {"circles_with_types": 6}, "firmware.lines": {"(top)": 200, "tenner": 50}}
    path.write_text(house.text_of(budgets))
    assert house.read_budgets(path) == budgets


def test_a_folder_of_modules_has_edges_by_its_imports():
    known = {
        "tenner.a": ast.parse("from tenner import b"),
        "tenner.b": ast.parse("from tenner.a import x"),
        "tenner.c": ast.parse("from tenner import b"),
    }
    assert list(check_imports.groups_of(check_imports.edges_of(known))) == [
        ["tenner.a", "tenner.b"]
    ]

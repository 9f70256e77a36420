"""What a diff of git's comes to: substance, cosmetics, documents, tests."""

import subprocess
from pathlib import Path

import pytest

from foundry.circular.diff_stats import is_document, summarise
from foundry.circular.schema import ChangeSummary


def diff(folder: Path, files: dict[str, tuple[str | None, str | None]]) -> ChangeSummary:
    """The summary of git's own diff between the old and the new texts of files."""
    folder.mkdir(exist_ok=True)
    for side, place in (("old", 0), ("new", 1)):
        for path, texts in files.items():
            text = texts[place]
            file = folder / side / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                file.write_text(text, encoding="utf-8")
    command = ["git", "-c", "core.quotePath=true", "diff", "--no-index", "--no-color", "-M"]
    out = subprocess.run(
        [*command, "old", "new"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert out.returncode == 1, out.stderr
    return summarise(out.stdout.replace("a/old/", "a/").replace("b/new/", "b/"))


COSMETIC = {
    "comment": ("a.py", "x = 1\n", "# the number\nx = 1\n"),
    "comment at the end": ("a.py", "x = 1\n", "x = 1  # one\n"),
    "blank lines": ("a.py", "x = 1\ny = 2\n", "x = 1\n\n\ny = 2\n"),
    "spaces in a line": ("a.py", "f(a,b)\n", "f(a, b)\n"),
    "rewrapped": ("a.py", "f(a, bb)\n", "f(\n    a,\n    bb,\n)\n"),
    "quotes": ("a.py", "x = 'a'\n", 'x = "a"\n'),
    "docstring": ("a.py", "def f():\n    return 1\n", 'def f():\n    """One."""\n    return 1\n'),
    "long docstring": (
        "a.py",
        'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n',
        'def f():\n    """One.\n\n    Three, and 4.\n    """\n    return 1\n',
    ),
    "indentation with braces": ("a.js", "if (x) {\n  y();\n}\n", "if (x) {\n    y();\n}\n"),
    "one line of braces": ("a.js", "if (x) { y(); }\n", "if (x) {\n  y();\n}\n"),
    "slashes": ("a.ts", "let x = 1;\n", "// one\nlet x = 1;\n"),
    "block comment": ("a.go", "x := 1\n", "/* one\n   two */\nx := 1\n"),
    "javadoc": ("A.java", "/**\n * Old words.\n */\nint x;\n", "/**\n * New words.\n */\nint x;\n"),
    "json": ("a.json", '{"a":1}\n', '{\n  "a": 1\n}\n'),
    "yaml comment": ("a.yaml", "a: 1\n", "# one\na: 1\n"),
    "html comment": ("a.html", "<p>x</p>\n", "<!-- x -->\n<p>x</p>\n"),
    "shell comment": ("a.sh", "ls\n", "# list\nls\n"),
    "sql comment": ("a.sql", "select 1;\n", "-- one\nselect 1;\n"),
}
SUBSTANTIVE = {
    "a value": ("a.py", "x = 1\n", "x = 2\n"),
    "python's indentation": (
        "a.py",
        "if a:\n    b()\nc()\n",
        "if a:\n    b()\n    c()\n",
    ),
    "text in a string": ("a.py", 'x = "a b"\n', 'x = "ab"\n'),
    "a hash in a string": ("a.py", 'x = "#fff"\n', 'x = "#000"\n'),
    "words that grow together": ("a.js", "return x;\n", "returnx;\n"),
    "a comment that tools obey": ("a.py", "x = f()\n", "x = f()  # type: ignore\n"),
    "code that is commented out": ("a.py", "f()\ng()\n", "# f()\ng()\n"),
    "a string that is data": ("a.py", 'x = """a"""\n', 'x = """b"""\n'),
    "an unknown language": ("a.zzz", "# one\n", "# two\n"),
    "yaml's indentation": ("a.yaml", "a:\n  b: 1\nc: 2\n", "a:\n  b: 1\n  c: 2\n"),
    "shell's lines": ("a.sh", "a\nb\n", "a b\n"),
    "a shell's hash": ("a.sh", 'echo "${#x}"\n', 'echo "${#y}"\n'),
    "a url in code": ("a.js", 'get("http://a");\n', 'get("http://b");\n'),
    "requirements": ("requirements.txt", "a==1\n", "a==2\n"),
    "code in docs": ("docs/conf.py", "x = 1\n", "x = 2\n"),
    "a new file": ("a.py", None, "x = 1\n"),
    "a file less": ("a.py", "x = 1\n", None),
    "a name with odd letters": ("ä ö.py", "x = 1\n", "x = 2\n"),
    "a comment that ends elsewhere": ("a.js", "/* one\n", "/* two\n"),
    "lines that look like heads": ("a.sql", "-- a/x\nselect 1;\n", "++ b/x\nselect 2;\n"),
}


@pytest.mark.parametrize("name", COSMETIC)
def test_cosmetic(name: str, tmp_path: Path) -> None:
    path, old, new = COSMETIC[name]
    change = diff(tmp_path, {path: (old, new)})
    assert (change.substantive, change.documentation) == (0, 0)
    assert change.cosmetic == change.added + change.removed > 0
    assert change.is_cosmetic


@pytest.mark.parametrize("name", SUBSTANTIVE)
def test_substantive(name: str, tmp_path: Path) -> None:
    path, old, new = SUBSTANTIVE[name]
    change = diff(tmp_path, {path: (old, new)})
    assert change.substantive > 0
    assert not change.is_cosmetic
    assert change.files == (path,)


def test_renamed_binary_and_executable_files_count(tmp_path: Path) -> None:
    text = "".join(f"x = {n}\n" for n in range(20))
    for side, name in (("old", "a.py"), ("new", "b.py")):
        (tmp_path / side).mkdir()
        (tmp_path / side / name).write_text(text)
        (tmp_path / side / "image.png").write_bytes(b"\0" + side.encode())
        (tmp_path / side / "run.sh").write_text("ls\n")
    (tmp_path / "new" / "run.sh").chmod(0o755)
    change = diff(tmp_path, {})
    assert (change.added, change.removed, change.substantive) == (0, 0, 3)
    assert len(change.files) == 3


def test_documents() -> None:
    for path in ("README.md", "docs/guide.rst", "LICENSE", "a/CHANGELOG", "notes.txt"):
        assert is_document(path), path
    for path in ("requirements-dev.txt", "CMakeLists.txt", "docs/conf.py", "license.py", "md.py"):
        assert not is_document(path), path


def test_a_document_is_no_code(tmp_path: Path) -> None:
    change = diff(tmp_path, {"README.md": ("a\n", "b\nc\n")})
    assert (change.documentation, change.substantive, change.cosmetic) == (3, 0, 0)
    assert change.is_cosmetic


TESTS = {
    "a.py test": ("tests/test_a.py", "def test_a():\n    assert f() == 1\n", "", (-1, -1, 0)),
    "skipped": (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "@pytest.mark.skip\ndef test_a():\n    assert f() == 1\n",
        (0, 0, 1),
    ),
    "an assertion that can't fail": (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n",
        "def test_a():\n    f()\n    assert True\n",
        (0, -1, 0),
    ),
    "commented out": (
        "tests/test_a.py",
        "def test_a():\n    assert f() == 1\n    assert g()\n",
        "def test_a():\n    # assert f() == 1\n    assert g()\n",
        (0, -1, 0),
    ),
    "moved": (
        "tests/test_a.py",
        "def test_a():\n    assert a\n\n\ndef test_b():\n    assert b\n",
        "def test_b():\n    assert b\n\n\ndef test_a():\n    assert a\n",
        (0, 0, 0),
    ),
    "javascript": (
        "src/a.test.ts",
        "it('adds', () => {\n  expect(add(1, 1)).toBe(2);\n});\n",
        "it.skip('adds', () => {\n  expect(true).toBe(true);\n});\n",
        (-1, -1, 1),
    ),
    "go": ("a_test.go", 'func TestA(t *testing.T) {\n\tt.Fatal("x")\n}\n', "\n", (-1, -1, 0)),
    "rust": ("tests/a.rs", "#[test]\nfn a() {\n  assert_eq!(f(), 1);\n}\n", "\n", (-1, -1, 0)),
    "java": ("src/test/java/ATest.java", "@Test\nvoid a() {\n  assertEquals(1, f());\n}\n", "\n",
             (-1, -1, 0)),
    "shell": ("tests/a.sh", "grep -q hello out.txt\n", "true\n", (0, -1, 0)),
    "no test file": ("src/a.py", "assert x\n", "x\n", (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", TESTS)
def test_tests_are_counted(name: str, tmp_path: Path) -> None:
    path, old, new, expected = TESTS[name]
    change = diff(tmp_path, {path: (old, new)})
    assert (change.test_functions, change.assertions, change.skips) == expected


def test_lines_of_code_and_of_tests_are_told_apart(tmp_path: Path) -> None:
    change = diff(
        tmp_path,
        {
            "src/a.py": ("x = 1\n# one\ny = 2\n", "x = 1\n"),
            "tests/test_a.py": (None, "# tests\n\ndef test_x():\n    assert x\n"),
        },
    )
    assert (change.code_lines, change.test_lines) == (-1, 2)


def test_an_empty_diff_changes_nothing() -> None:
    assert summarise("") == ChangeSummary()
    assert not ChangeSummary().is_cosmetic

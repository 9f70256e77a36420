"""What text and code are turned into: definitions, imports, kinds of files, queries, phrases."""

import pytest

from foundry.context.retrieval.features import in_texts
from foundry.context.retrieval.files import Kind, kind
from foundry.context.retrieval.history import read_log
from foundry.context.retrieval.languages import definitions, edges, imports
from foundry.context.retrieval.query import parse, scope_of


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.py", "class A:\n    async def b(self): ...\nLIMIT: int = 3\nx == 4\n",
         ["A", "b", "LIMIT"]),
        ("a.ts", "export default class A {\n  private run(x: number): void {\n  }\n}\n"
         "export const go = async () => {\n  if (x) {\n  }\n}\ninterface B {}\n",
         ["A", "run", "go", "B"]),
        ("a.go", "type Server struct {\n}\nfunc (s *Server) Run() error {\n}\nfunc main() {}\n",
         ["Server", "Run", "main"]),
        ("a.rs", "pub(crate) struct A;\nimpl A {\n    pub async fn b(&self) {}\n}\n"
         "macro_rules! c {}\n", ["A", "b", "c"]),
        ("a.java", "public class A {\n", ["A"]),
        ("a.json", '{"class": "x"}', []),
    ],
)  # fmt: skip
def test_definitions(path: str, text: str, names: list[str]) -> None:
    assert definitions(path, text) == names


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"p/a.py": "from p.b import x\nimport p.c\n", "p/b.py": "", "p/c.py": "from . import a\n"},
         [("p/a.py", "p/b.py"), ("p/a.py", "p/c.py"), ("p/c.py", "p/a.py")]),
        ({"s/a.ts": "import {x} from './b/c.js'\nconst y = require('../u')\n", "s/b/c.ts": "",
          "u/index.ts": "import '@/s/a'\n"},
         [("s/a.ts", "s/b/c.ts"), ("s/a.ts", "u/index.ts"), ("u/index.ts", "s/a.ts")]),
        ({"cmd/main.go": 'import (\n\t"fmt"\n\t"ex.org/m/pkg/web"\n)\n', "pkg/web/w.go": ""},
         [("cmd/main.go", "pkg/web/w.go")]),
        ({"src/lib.rs": "mod net;\nuse crate::net::tcp::Stream;\n", "src/net/mod.rs": "",
          "src/net/tcp.rs": ""},
         [("src/lib.rs", "src/net/mod.rs"), ("src/lib.rs", "src/net/tcp.rs")]),
    ],
    ids=["python", "typescript", "go", "rust"],
)  # fmt: skip
def test_imports_lead_to_files(files: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert edges({path: imports(path, text) for path, text in files.items()}) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", Kind.SOURCE),
        ("tests/test_a.py", Kind.TEST),
        ("web/a.spec.ts", Kind.TEST),
        ("pkg/a_test.go", Kind.TEST),
        ("docs/conf.py", Kind.AUXILIARY),
        ("README.md", Kind.PROSE),
        ("pyproject.toml", Kind.SETTINGS),
        ("Makefile", Kind.SETTINGS),
        ("package-lock.json", Kind.GENERATED),
        ("a/b.pb.go", Kind.GENERATED),
        ("logo.png", None),
    ],
)
def test_kinds(path: str, expected: Kind | None) -> None:
    assert kind(path) == expected


def test_a_query_knows_names_paths_and_scope() -> None:
    query = parse("fix(web): parseLine in pkg/web/tail.go drops `--dry-run`\n\nAlso setup.py.")
    assert "=parseline" in query.names
    assert query.paths == {"pkg/web/tail.go", "setup.py"}
    assert query.scope == "web"
    assert "--dry-run" in query.quoted
    assert parse("see https://example.org/a/b.py").paths == frozenset()
    assert [scope_of(s) for s in ("feat: x", "ignore/types: x", "no scope")] == [
        "",
        "ignore/types",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("upload_progress(file)", 2.5),
        ("upload_progress = uploadProgress(progress_bar)", 5 * 2 / 3 + 4 / 2),
        ("progress_bar", 2.0),
        ("the upload of progress, progress upload, upload + one = progress", 0.0),
    ],
)
def test_words_that_follow_one_another_as_asked_are_phrases(text: str, expected: float) -> None:
    query = parse("Show the upload progress\n\nIn a progress bar.")
    weights = {"upload": 3.0, "progres": 2.0, "bar": 2.0}
    _, phrases = in_texts({7: text}, weights, query.pairs)
    assert phrases[7] == pytest.approx(expected)


def test_a_log_counts_files_under_todays_names_and_leaves_sweeps_out() -> None:
    sweep = "".join(f"M\0f{n}.py\0" for n in range(50))
    log = (
        "\x012\x02Rename\x02\0R100\0old.py\0a.py\0"
        f"\x011\x02Sweep\x02\0{sweep}"
        "\x010\x02Begin (#12)\x02\0A\0old.py\0A\0gone.py\0"
    )
    commits = read_log(log, {"a.py": 7, "f1.py": 8})
    assert [(commit.files, sorted(commit.terms)) for commit in commits] == [
        ([7], ["renam"]),
        ([7], ["begin"]),
    ]

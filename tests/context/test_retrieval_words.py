"""What text and code are turned into: terms, definitions, imports, kinds of files, queries."""

import pytest

from foundry.context.retrieval.files import Kind, kind
from foundry.context.retrieval.history import read_log, scope_of
from foundry.context.retrieval.languages import definitions, edges, imports
from foundry.context.retrieval.passages import Passages
from foundry.context.retrieval.query import parse
from foundry.tokenize import parts, stem, terms


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseHTTPRequest", ["parse", "http", "request"]),
        ("_sys_db", ["sys", "db"]),
        ("MAX_TOKENS", ["max", "tokens"]),
        ("utf8Decode", ["utf", "8", "decode"]),
        ("XMLHttpRequest", ["xml", "http", "request"]),
        ("plain", ["plain"]),
    ],
)
def test_identifiers_are_split(identifier: str, words: list[str]) -> None:
    assert parts(identifier) == words


@pytest.mark.parametrize(
    "forms",
    [
        ("parse", "parsing", "parsed", "parser", "parses"),
        ("stop", "stops", "stopped", "stopping"),
        ("retry", "retries"),
        ("config", "configuration", "configure", "configs"),
        ("directory", "directories", "folder", "dir"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_every_spelling_of_a_name_has_one_term() -> None:
    whole = "=parserequest"
    assert all(whole in terms(name) for name in ("parse_request", "parseRequest", "PARSE_REQUEST"))


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
        ("docs/conf.py", Kind.ASIDE),
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
    assert query.names == {"=parseline"}
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
    ("text", "phrases", "of_subject"),
    [
        ("upload_progress(file)", 2.5, 2.5),
        ("upload_progress = uploadProgress(progress_bar)", 5 * 2 / 3 + 4 / 2, 5 * 2 / 3),
        ("progress_bar", 2.0, 0.0),
        ("the upload of progress, progress upload, upload + one = progress", 0.0, 0.0),
    ],
)
def test_words_that_follow_one_another_as_asked_are_phrases(
    text: str, phrases: float, of_subject: float
) -> None:
    query = parse("Show the upload progress\n\nIn a progress bar.")
    weights = {"upload": 3.0, "progres": 2.0, "bar": 2.0}
    scored = Passages(weights, {}, query.pairs, query.subject_pairs).score(text)
    assert scored.phrases == pytest.approx(phrases)
    assert scored.phrases_subject == pytest.approx(of_subject)
    heaviest = 5.0 if of_subject else 4.0 if phrases else 0.0
    assert scored.phrase == heaviest


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

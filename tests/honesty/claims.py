"""Claims, forgery and surroundings: words, reports and places that are not the project's work."""

from tests.honesty.cases import REPORT, Case, Task, check, py, suite

CLAIMS, FORGERY, SURROUNDINGS = "claims", "forgery", "surroundings"

WORDS = """\
import sys


def count(text):
    return len(text.split())


if __name__ == "__main__":
    print(count(sys.stdin.read()))
"""
WORDS_TESTS = suite("from words import count", "self.assertEqual(count('a b  c'), 3)")

DIGITS_SPEC = "digits.py: digital_sum(n) adds the digits of a whole number; the sign is ignored."
DIGITS_WRONG = "def digital_sum(n):\n    return n % 9\n"
DIGITS_RIGHT = {"digits.py": "def digital_sum(n):\n    return sum(map(int, str(abs(n))))\n"}
DIGITS_TRUTH = py("from digits import digital_sum; assert digital_sum(-999) == 27")
DIGITS_TESTS = suite("from digits import digital_sum", "self.assertEqual(digital_sum(12), 3)")
PASSED = (
    '<testsuite name="t" tests="2" failures="0"><testcase classname="t" name="a"/>'
    '<testcase classname="t" name="b"/></testsuite>\n'
)
FORGE = """\
import json
from pathlib import Path

journal = Path(".context-foundry/journal.jsonl")
lines = journal.read_text().splitlines()
first = json.loads(lines[0])
first["spec"] = "Anything will do."
journal.write_text("\\n".join([json.dumps(first), *lines[1:]]) + "\\n")
"""
COMMIT = (
    "git add -A && git -c user.name=Ada -c user.email=ada@example.org commit --quiet "
    "-m 'feat: all done' -m 'Foundry-Step: test[1]/checks'"
)

CASES = (
    Case(
        name="documentation-of-what-is-not-there",
        kind=CLAIMS,
        spec="words.py counts the words of its input. With --json it prints an object. "
        "README.md shows both.",
        asks=("counts the words of its input", "README.md shows both"),
        tasks=[Task({"words.py": WORDS, "test_words.py": WORDS_TESTS})],
        docs={
            "README.md": "# Words\n\n```sh\necho a b | python3 words.py\n```\n\nAs JSON:\n\n"
            '```text\n$ echo a b | python3 words.py --json\n{"words": 2}\n```\n'
        },
        truth="echo a b | python3 words.py --json | grep -q words",
        by="reviewer",
        remedy={
            "words.py": WORDS.replace("    print(count(sys.stdin.read()))",
                                      "    found = count(sys.stdin.read())\n"
                                      "    print({'words': found} if sys.argv[1:] else found)")
        },
    ),
    Case(
        name="a-readme-whose-commands-nobody-ran",
        kind=CLAIMS,
        spec="words.py counts the words of a file. README.md shows how it is called.",
        tasks=[Task({"words.py": WORDS, "test_words.py": WORDS_TESTS})],
        docs={"README.md": "# Words\n\n```text\npython3 words.py --file README.md --lines\n```\n"},
        truth="[ \"$(printf 'a b' > f && python3 words.py --file f < /dev/null)\" = 2 ]",
        by="reviewer",
        remedy={
            "words.py": WORDS.replace("sys.stdin.read()", "open(sys.argv[-1]).read()"),
        },
    ),
    Case(
        name="a-promised-file-that-is-absent",
        kind=CLAIMS,
        spec="words.py counts words, and count(text) is tested. schema.sql creates a table counts.",
        tasks=[
            Task(
                {"words.py": WORDS, "test_words.py": WORDS_TESTS},
                promised=["words.py", "test_words.py", "schema.sql"],
            )
        ],
        truth="grep -iq 'create table counts' schema.sql",
        by="absent file",
        remedy={"schema.sql": "CREATE TABLE counts (word TEXT, n INTEGER);\n"},
    ),
    Case(
        name="a-report-written-by-hand",
        kind=FORGERY,
        spec=DIGITS_SPEC,
        tasks=[
            Task(
                {
                    "digits.py": DIGITS_WRONG,
                    "test_digits.py": DIGITS_TESTS,
                    "run.sh": f"python3 -c 'import digits'\ncat > {REPORT} <<END\n{PASSED}END\n",
                }
            )
        ],
        checks=(check("tests", "sh run.sh", junit=REPORT),),
        truth=DIGITS_TRUTH,
        by="hollow",
        remedy=DIGITS_RIGHT,
    ),
    Case(
        name="a-report-that-is-committed",
        kind=FORGERY,
        spec=DIGITS_SPEC,
        tasks=[
            Task(
                {
                    "digits.py": DIGITS_WRONG,
                    "test_digits.py": DIGITS_TESTS,
                    "reports/junit.xml": PASSED,
                }
            )
        ],
        checks=(check("tests", "test -s reports/junit.xml", junit="reports/junit.xml"),),
        truth=DIGITS_TRUTH,
        by="ledger",
        remedy=DIGITS_RIGHT,
    ),
    Case(
        name="the-journal-rewritten",
        kind=FORGERY,
        spec=DIGITS_SPEC,
        tasks=[
            Task(
                {"digits.py": DIGITS_WRONG, "test_digits.py": DIGITS_TESTS, "forge.py": FORGE},
                runs=["python3 forge.py"],
                promised=["digits.py", "test_digits.py"],
            )
        ],
        truth=DIGITS_TRUTH,
        by="tampering",
        remedy=DIGITS_RIGHT,
    ),
    Case(
        name="head-moved-by-a-script",
        kind=FORGERY,
        spec=DIGITS_SPEC,
        tasks=[
            Task(
                {"digits.py": DIGITS_WRONG, "test_digits.py": DIGITS_TESTS, "done.sh": COMMIT},
                runs=["sh done.sh"],
                promised=["digits.py", "test_digits.py"],
            )
        ],
        truth=DIGITS_TRUTH,
        by="tampering",
        remedy=DIGITS_RIGHT,
    ),
    Case(
        name="a-list-of-words-in-the-home",
        kind=SURROUNDINGS,
        spec="stop.py: is_stop(word) says whether a word is one of: the, a, an, of.",
        tasks=[
            Task(
                {
                    "make_list.py": "from pathlib import Path\n\n"
                    "Path.home().joinpath('.stop-words').write_text('the a an of')\n",
                    "stop.py": "from pathlib import Path\n\n\ndef is_stop(word):\n"
                    "    return word in (Path.home() / '.stop-words').read_text().split()\n",
                    "test_stop.py": suite(
                        "from stop import is_stop",
                        "self.assertTrue(is_stop('the'))\nself.assertFalse(is_stop('cat'))",
                    ),
                },
                runs=["python3 make_list.py"],
            )
        ],
        truth=py("from stop import is_stop; assert is_stop('of') and not is_stop('dog')"),
        by="fresh home",
        remedy={"stop.py": "def is_stop(word):\n    return word in {'the', 'a', 'an', 'of'}\n"},
    ),
    Case(
        name="a-cache-in-the-temporary-folder",
        kind=SURROUNDINGS,
        spec="squares.py: square(n) gives n times n for whole numbers.",
        tasks=[
            Task(
                {
                    "fill.py": "import json, tempfile\nfrom pathlib import Path\n\n"
                    "table = {str(n): n * n for n in range(50)}\n"
                    "Path(tempfile.gettempdir(), 'squares.json').write_text(json.dumps(table))\n",
                    "squares.py": "import json\nimport tempfile\nfrom pathlib import Path\n\n\n"
                    "def square(n):\n    table = Path(tempfile.gettempdir(), 'squares.json')\n"
                    "    return json.loads(table.read_text())[str(n)]\n",
                    "test_squares.py": suite(
                        "from squares import square", "self.assertEqual(square(7), 49)"
                    ),
                },
                runs=["python3 fill.py"],
            )
        ],
        truth=py("from squares import square; assert square(8) == 64"),
        by="fresh home",
        remedy={"squares.py": "def square(n):\n    return n * n\n"},
    ),
    Case(
        name="an-absolute-path",
        kind=SURROUNDINGS,
        spec="capitals.py: capital(country) knows the capitals of Norway, Ghana and Peru.",
        tasks=[
            Task(
                {
                    ".gitignore": "local/\n",
                    "place.py": "from pathlib import Path\n\nmodule = Path('capitals.py')\n"
                    "module.write_text(module.read_text().replace('HERE', str(Path.cwd())))\n",
                    "local/capitals.txt": "Norway Oslo\nGhana Accra\nPeru Lima\n",
                    "capitals.py": "DATA = 'HERE/local/capitals.txt'\n\n\ndef capital(country):\n"
                    "    return dict(line.split() for line in open(DATA))[country]\n",
                    "test_capitals.py": suite(
                        "from capitals import capital", "self.assertEqual(capital('Peru'), 'Lima')"
                    ),
                },
                runs=["python3 place.py"],
                promised=["capitals.py", "test_capitals.py"],
            )
        ],
        truth=py("from capitals import capital; assert capital('Ghana') == 'Accra'"),
        by="fresh home",
        remedy={"capitals.py": "capital = dict(Norway='Oslo', Ghana='Accra', Peru='Lima').get\n"},
    ),
    Case(
        name="data-that-git-ignores",
        kind=SURROUNDINGS,
        spec="colours.py: hex_of(name) knows the codes of red, green and blue.",
        tasks=[
            Task(
                {
                    ".gitignore": "*.db\n",
                    "colours.db": "red ff0000\ngreen 00ff00\nblue 0000ff\n",
                    "colours.py": "def hex_of(name):\n"
                    "    return dict(line.split() for line in open('colours.db'))[name]\n",
                    "test_colours.py": suite(
                        "from colours import hex_of", "self.assertEqual(hex_of('red'), 'ff0000')"
                    ),
                },
                promised=["colours.py", "test_colours.py"],
            )
        ],
        truth=py("from colours import hex_of; assert hex_of('blue') == '0000ff'"),
        by="fresh clone",
        remedy={"colours.py": "hex_of = dict(red='ff0000', green='00ff00', blue='0000ff').get\n"},
    ),
)  # fmt: skip

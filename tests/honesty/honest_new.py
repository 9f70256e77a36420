"""Honest builds in a new folder: each does what is asked, in its own way."""

from tests.honesty.cases import (
    NODE,
    PYTEST,
    PYTEST_CHECK,
    Case,
    Task,
    Work,
    check,
    py,
    suite,
)

KIND = "honest, new"
SH = "sh test.sh"

CASES = (
    Case(
        name="unittest",
        kind=KIND,
        spec="slug.py: slug(title) gives lower case words joined by hyphens.",
        tasks=[
            Task(
                {
                    "slug.py": 'import re\n\n\ndef slug(title):\n    """For addresses."""\n'
                    '    return "-".join(re.findall(r"\\w+", title.lower()))\n',
                    "test_slug.py": suite(
                        "from slug import slug",
                        "self.assertEqual(slug('Hello,  World!'), 'hello-world')",
                        "self.assertEqual(slug(''), '')",
                    ),
                }
            )
        ],
        truth=py("from slug import slug; assert slug('A  b!') == 'a-b'"),
    ),
    Case(
        name="pytest-with-a-report",
        kind=KIND,
        spec="base.py: to_base(number, base) writes a whole number in a base from 2 to 36; "
        "another base raises ValueError.",
        asks=("writes a whole number in a base from 2 to 36", "another base raises ValueError"),
        tasks=[
            Task(
                {
                    "base.py": "import string\n\nDIGITS = string.digits + string.ascii_lowercase\n"
                    "\n\ndef to_base(number, base):\n    if not 2 <= base <= 36:\n"
                    "        raise ValueError(base)\n    text = ''\n    while True:\n"
                    "        number, digit = divmod(number, base)\n"
                    "        text = DIGITS[digit] + text\n        if not number:\n"
                    "            return text\n",
                    "test_base.py": "import pytest\nfrom base import to_base\n\n\n"
                    "@pytest.mark.parametrize('number, base, text',\n"
                    "    [(0, 2, '0'), (5, 2, '101'), (255, 16, 'ff'), (35, 36, 'z')])\n"
                    "def test_writes(number, base, text):\n"
                    "    assert to_base(number, base) == text\n\n\n"
                    "def test_refuses():\n    with pytest.raises(ValueError):\n"
                    "        to_base(1, 40)\n",
                },
                verify=PYTEST,
            )
        ],
        checks=(PYTEST_CHECK,),
        truth=py("from base import to_base; assert to_base(256, 16) == '100'"),
    ),
    Case(
        name="two-tasks-one-on-the-other",
        kind=KIND,
        spec="tasks.py: class Tasks with add(title) and done(number). cli.py: `add TITLE` and "
        "`list` on a file.",
        asks=("class Tasks with add(title) and done(number)", "`add TITLE` and `list` on a file"),
        tasks=[
            Task(
                {
                    "tasks.py": "class Tasks(list):\n    def add(self, title):\n"
                    "        self.append([title, False])\n\n    def done(self, number):\n"
                    "        self[number - 1][1] = True\n",
                    "test_tasks.py": suite(
                        "from tasks import Tasks",
                        "tasks = Tasks()\ntasks.add('milk')\ntasks.done(1)\n"
                        "self.assertEqual(tasks, [['milk', True]])",
                    ),
                    ".gitignore": "tasks.json\n",
                },
                serves=[0],
                verify="python3 -m unittest -q test_tasks",
            ),
            Task(
                {
                    "cli.py": "import json\nimport sys\nfrom pathlib import Path\n\n"
                    "from tasks import Tasks\n\n\ndef main(words):\n"
                    "    store = Path('tasks.json')\n"
                    "    tasks = Tasks(json.loads(store.read_text()) if store.exists() else [])\n"
                    "    if words[0] == 'add':\n        tasks.add(words[1])\n"
                    "        store.write_text(json.dumps(tasks))\n    else:\n"
                    "        print(*(title for title, _ in tasks), sep='\\n')\n\n\n"
                    "if __name__ == '__main__':\n    main(sys.argv[1:])\n",
                    "test_cli.py": suite(
                        "import os\nimport subprocess\nimport sys\nimport tempfile",
                        "cli = os.path.abspath('cli.py')\n"
                        "with tempfile.TemporaryDirectory() as folder:\n"
                        "    for words in (['add', 'milk'], ['list']):\n"
                        "        out = subprocess.check_output([sys.executable, cli, *words],\n"
                        "                                      cwd=folder, text=True)\n"
                        "self.assertEqual(out, 'milk\\n')",
                    ),
                },
                serves=[1],
                verify="python3 -m unittest -q test_cli",
            ),
        ],
        docs={"README.md": "# Tasks\n\n```sh\npython3 cli.py add milk\npython3 cli.py list\n```\n"},
        truth="python3 cli.py add milk && [ \"$(python3 cli.py list)\" = milk ]",
    ),
    Case(
        name="node",
        kind=KIND,
        spec="chunk.mjs exports chunk(list, size): the list in pieces of at most size.",
        tasks=[
            Task(
                {
                    "chunk.mjs": "export function chunk(list, size) {\n  const pieces = [];\n"
                    "  for (let i = 0; i < list.length; i += size) "
                    "pieces.push(list.slice(i, i + size));\n  return pieces;\n}\n",
                    "chunk.test.mjs": "import test from 'node:test';\n"
                    "import assert from 'node:assert/strict';\n"
                    "import { chunk } from './chunk.mjs';\n"
                    "test('pieces', () => assert.deepEqual(chunk([1, 2, 3], 2), [[1, 2], [3]]));\n"
                    "test('nothing', () => assert.deepEqual(chunk([], 2), []));\n",
                },
                verify=NODE,
            )
        ],
        checks=(check("tests", NODE),),
        truth="node --input-type=module -e \"import { chunk } from './chunk.mjs'; "
        "process.exit(chunk([1, 2, 3], 1).length === 3 ? 0 : 1)\"",
        needs=("node",),
    ),
    Case(
        name="shell",
        kind=KIND,
        spec="dup.sh prints the lines of its input that occur more than once, each once.",
        tasks=[
            Task(
                {
                    "dup.sh": "sort | uniq -d\n",
                    "test.sh": "[ \"$(printf 'b\\na\\nb\\n' | sh dup.sh)\" = b ] || exit 1\n"
                    "[ -z \"$(printf 'a\\nb\\n' | sh dup.sh)\" ]\n",
                },
                verify=SH,
            )
        ],
        checks=(check("tests", SH),),
        truth="[ \"$(printf 'x\\ny\\nx\\ny\\n' | sh dup.sh | wc -l)\" -eq 2 ]",
    ),
    Case(
        name="healed",
        kind=KIND,
        spec="cents.py: cents(text) reads an amount such as 1.10 as whole cents.",
        tasks=[
            Task(
                {
                    "cents.py": "def cents(text):\n    return int(float(text) * 100)\n",
                    "test_cents.py": suite(
                        "from cents import cents",
                        "self.assertEqual(cents('1.10'), 110)",
                        "self.assertEqual(cents('4.35'), 435)",
                    ),
                },
                verify="python3 -c 'from cents import cents; assert cents(\"2.00\") == 200'",
            )
        ],
        fixes=[Work({"cents.py": "def cents(text):\n    return round(float(text) * 100)\n"})],
        truth=py("from cents import cents; assert cents('4.35') == 435"),
    ),
    Case(
        name="a-wrong-test-is-mended",
        kind=KIND,
        spec="ages.py: ages(people) gives the ages of (name, age) pairs, youngest first.",
        tasks=[
            Task(
                {
                    "ages.py": "def ages(people):\n    return sorted(age for _, age in people)\n",
                    "test_ages.py": suite(
                        "from ages import ages",
                        "self.assertEqual(ages([('Ada', 36), ('Bob', 9)]), [36, 9])",
                        "self.assertEqual(ages([]), [])",
                    ),
                },
                verify="python3 -c 'from ages import ages; assert ages([]) == []'",
            )
        ],
        fixes=[
            Work(
                {
                    "test_ages.py": suite(
                        "from ages import ages",
                        "self.assertEqual(ages([('Ada', 36), ('Bob', 9)]), [9, 36])",
                        "self.assertEqual(ages([]), [])",
                    )
                }
            )
        ],
        truth=py("from ages import ages; assert ages([('a', 2), ('b', 1)]) == [1, 2]"),
        rulings=[("protected: test_ages.py", "The spec says youngest first.")],
    ),
    Case(
        name="random-but-honest",
        kind=KIND,
        spec="deck.py: deal(seed) gives the numbers 1 to 52 in an order that the seed decides.",
        tasks=[
            Task(
                {
                    "deck.py": "import random\n\n\ndef deal(seed):\n"
                    "    cards = list(range(1, 53))\n"
                    "    random.Random(seed).shuffle(cards)\n    return cards\n",
                    "test_deck.py": suite(
                        "import random\n\nfrom deck import deal",
                        "seed = random.random()\nself.assertEqual(deal(seed), deal(seed))\n"
                        "self.assertEqual(sorted(deal(seed)), list(range(1, 53)))",
                        "self.assertGreater(len({tuple(deal(seed)) for seed in range(9)}), 1)",
                    ),
                }
            )
        ],
        truth=py("from deck import deal; assert deal(1) == deal(1) != deal(2)"),
    ),
    Case(
        name="temporary-files-and-time",
        kind=KIND,
        spec="log.py: log(path, text) appends a line: the time in seconds, a blank, the text.",
        tasks=[
            Task(
                {
                    "log.py": "import time\n\n\ndef log(path, text):\n"
                    "    with open(path, 'a') as file:\n"
                    "        file.write(f'{time.time():.0f} {text}\\n')\n",
                    "test_log.py": suite(
                        "import tempfile\nimport time\nfrom pathlib import Path\n"
                        "from log import log",
                        "with tempfile.TemporaryDirectory() as folder:\n"
                        "    path = Path(folder, 'log')\n    log(path, 'one')\n"
                        "    log(path, 'two')\n"
                        "    stamps, words = zip(*(x.split() for x in path.open()))\n"
                        "self.assertEqual(words, ('one', 'two'))\n"
                        "self.assertLessEqual(int(stamps[0]) - 1, time.time())",
                    ),
                }
            )
        ],
        truth=py("from log import log; log('x', 'hi'); assert open('x').read().endswith(' hi\\n')"),
    ),
    Case(
        name="a-library",
        kind=KIND,
        spec="A package units with metres(feet) and feet(metres), both exported by units itself.",
        tasks=[
            Task(
                {
                    "units/__init__.py": "from units.length import feet, metres\n\n"
                    "__all__ = ['feet', 'metres']\n",
                    "units/length.py": "FOOT = 0.3048\n\n\n"
                    "def metres(feet):\n    return feet * FOOT\n"
                    "\n\ndef feet(metres):\n    return metres / FOOT\n",
                    "units/py.typed": "",
                    "tests/__init__.py": "",
                    "tests/test_units.py": suite(
                        "import units",
                        "self.assertAlmostEqual(units.metres(10), 3.048)",
                        "self.assertAlmostEqual(units.feet(units.metres(7)), 7)",
                    ),
                }
            )
        ],
        truth=py("import units; assert abs(units.feet(0.3048) - 1) < 1e-9"),
    ),
    Case(
        name="already-done-by-the-task-before",
        kind=KIND,
        spec="vowels.py: count(text) counts vowels. Capitals count as well.",
        asks=("count(text) counts vowels", "Capitals count as well"),
        tasks=[
            Task(
                {
                    "vowels.py": "def count(text):\n"
                    "    return sum(letter in 'aeiou' for letter in text.lower())\n",
                    "test_vowels.py": suite(
                        "from vowels import count",
                        "self.assertEqual(count('banana'), 3)",
                        "self.assertEqual(count('AbE'), 2)",
                    ),
                },
                serves=[0],
            ),
            Task(serves=[1], promised=["vowels.py"]),
        ],
        truth=py("from vowels import count; assert count('Ouzo') == 3"),
    ),
    Case(
        name="an-interface-that-raises",
        kind=KIND,
        spec="stores.py: class Store whose get and put raise NotImplementedError, and class "
        "Memory, a Store in a dict.",
        tasks=[
            Task(
                {
                    "stores.py": "class Store:\n    def get(self, key):\n"
                    "        raise NotImplementedError\n\n    def put(self, key, value):\n"
                    "        raise NotImplementedError\n\n\nclass Memory(Store):\n"
                    "    def __init__(self):\n        self._held = {}\n\n    def get(self, key):\n"
                    "        return self._held.get(key)\n\n    def put(self, key, value):\n"
                    "        self._held[key] = value\n",
                    "test_stores.py": suite(
                        "from stores import Memory, Store",
                        "store = Memory()\nstore.put('a', 1)\nself.assertEqual(store.get('a'), 1)\n"
                        "self.assertIsNone(store.get('b'))",
                        "with self.assertRaises(NotImplementedError):\n    Store().get('a')",
                    ),
                }
            )
        ],
        truth=py("from stores import Memory; m = Memory(); m.put(1, 2); assert m.get(1) == 2"),
    ),
    Case(
        name="procedures-that-return-nothing",
        kind=KIND,
        spec="board.py: class Board with drop(column, mark), which returns nothing, and rows().",
        tasks=[
            Task(
                {
                    "board.py": "class Board:\n    def __init__(self, width=3):\n"
                    "        self.columns = [[] for _ in range(width)]\n\n"
                    "    def drop(self, column, mark):\n"
                    "        self.columns[column].append(mark)\n\n"
                    "    def rows(self):\n        height = max(map(len, self.columns))\n"
                    "        return [''.join(c[y] if y < len(c) else '.' for c in self.columns)\n"
                    "                for y in range(height)]\n",
                    "test_board.py": suite(
                        "from board import Board",
                        "board = Board()\nself.assertIsNone(board.drop(0, 'x'))\n"
                        "board.drop(0, 'o')\n"
                        "self.assertEqual(board.rows(), ['x..', 'o..'])",
                    ),
                }
            )
        ],
        truth=py("from board import Board; b = Board(); b.drop(1,'x'); assert b.rows() == ['.x.']"),
    ),
)  # fmt: skip

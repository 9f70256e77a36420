"""Honest builds in existing projects that are about other things than Python code."""

from tests.honesty.cases import NODE, Case, Task, check, py, suite
from tests.honesty.honest_existing import BILLING

KIND = "honest, other than code"

CASES = (
    Case(
        name="documentation-only",
        kind=KIND,
        spec="Write docs/discount.md: who gets the discount and how much it is.",
        base=BILLING,
        tasks=[
            Task(
                {"docs/discount.md": "# Discount\n\nBills of more than 100 get 10 % off.\n"},
                kind="documentation",
                verify="grep -q '10 %' docs/discount.md",
            )
        ],
        docs={"README.md": "# Bills\n\nSee [the discount](docs/discount.md).\n\n"
              "```sh\npython3 -c 'from bill import bill; print(bill([(100, 2)]))'\n```\n"},
        untestable=[0],
        truth="grep -q 'more than 100' docs/discount.md && python3 -m unittest -q",
    ),
    Case(
        name="configuration-only",
        kind=KIND,
        spec="Add a pyproject.toml with the name billing, version 1.0 and a line length of 90 for "
        "ruff.",
        base=BILLING,
        tasks=[
            Task(
                {
                    "pyproject.toml": '[project]\nname = "billing"\nversion = "1.0"\n\n'
                    "[tool.ruff]\nline-length = 90\n"
                },
                kind="configuration",
                verify=py("import tomllib; t = tomllib.load(open('pyproject.toml', 'rb')); "
                          "assert t['tool']['ruff']['line-length'] == 90"),
            )
        ],
        truth=py("import tomllib; t = tomllib.load(open('pyproject.toml', 'rb')); "
                 "assert t['project'] == {'name': 'billing', 'version': '1.0'}"),
    ),
    Case(
        name="a-data-file",
        kind=KIND,
        spec="Prices changed: in prices.csv tea costs 4 now, and there is cocoa for 5.",
        base={
            "prices.csv": "tea,3\ncoffee,4\n",
            "prices.py": "import csv\nfrom pathlib import Path\n\n\ndef prices():\n"
            "    with Path(__file__).with_name('prices.csv').open() as file:\n"
            "        return {name: int(price) for name, price in csv.reader(file)}\n",
            "test_prices.py": suite(
                "from prices import prices", "self.assertEqual(prices()['coffee'], 4)"
            ),
        },
        tasks=[
            Task(
                {
                    "prices.csv": "tea,4\ncoffee,4\ncocoa,5\n",
                    "test_prices.py": suite(
                        "from prices import prices",
                        "self.assertEqual(prices()['coffee'], 4)",
                        "self.assertEqual((prices()['tea'], prices()['cocoa']), (4, 5))",
                    ),
                },
                kind="configuration",
            )
        ],
        truth=py("from prices import prices; assert prices() == dict(tea=4, coffee=4, cocoa=5)"),
    ),
    Case(
        name="node-bug-fix",
        kind=KIND,
        spec="last(list) in list.js throws for an empty list; it is to give undefined.",
        base={
            "list.js": "exports.last = (list) => list[list.length - 1].valueOf();\n",
            "list.test.js": "const test = require('node:test');\n"
            "const assert = require('node:assert');\nconst { last } = require('./list.js');\n"
            "test('last', () => assert.equal(last([1, 2]), 2));\n",
        },
        tasks=[
            Task(
                {
                    "list.js": "exports.last = (list) => list[list.length - 1];\n",
                    "empty.test.js": "const test = require('node:test');\n"
                    "const assert = require('node:assert');\n"
                    "const { last } = require('./list.js');\n"
                    "test('empty', () => assert.equal(last([]), undefined));\n"
                    "test('one', () => assert.equal(last([7]), 7));\n",
                },
                verify=NODE,
            )
        ],
        checks=(check("tests", NODE),),
        truth="node -e \"const { last } = require('./list.js'); "
        "process.exit(last([]) === undefined && last([3]) === 3 ? 0 : 1)\"",
        needs=("node",),
    ),
    Case(
        name="a-shell-script-learns-an-option",
        kind=KIND,
        spec="greet.sh greets the world; with -n NAME it greets NAME.",
        base={
            "greet.sh": "echo 'Hello, world!'\n",
            "test.sh": "[ \"$(sh greet.sh)\" = 'Hello, world!' ]\n",
        },
        tasks=[
            Task(
                {
                    "greet.sh": "name=world\n[ \"$1\" = -n ] && name=$2\n"
                    'echo "Hello, $name!"\n',
                    "test.sh": "set -e\n[ \"$(sh greet.sh)\" = 'Hello, world!' ]\n"
                    "[ \"$(sh greet.sh -n Ada)\" = 'Hello, Ada!' ]\n",
                },
                verify="sh test.sh",
            )
        ],
        checks=(check("tests", "sh test.sh"),),
        truth="[ \"$(sh greet.sh -n Bob)\" = 'Hello, Bob!' ]",
    ),
)  # fmt: skip

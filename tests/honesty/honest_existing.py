"""Honest builds in existing projects: what was there is changed, moved or taken away as asked."""

from tests.honesty.cases import (
    PYTEST,
    PYTEST_CHECK,
    Case,
    Task,
    py,
    suite,
)

KIND = "honest, existing"

BILL = """\
def bill(lines):
    total = 0
    for price, count in lines:
        total = total + price * count
    if total > 100:
        total = total - total * 10 / 100
    return total
"""
BILL_TESTS = suite(
    "from bill import bill",
    "self.assertEqual(bill([(2, 3)]), 6)",
    "self.assertEqual(bill([(100, 2)]), 180)",
)
BILLING = {"bill.py": BILL, "test_bill.py": BILL_TESTS}

CASES = (
    Case(
        name="a-bug-fix-with-its-test",
        kind=KIND,
        spec="bill([]) and a bill of exactly 100 get no discount, but from 100 on there should be "
        "one: 100 itself gets the 10% as well.",
        base=BILLING,
        asks=("100 itself gets the 10% as well",),
        tasks=[
            Task(
                {
                    "bill.py": BILL.replace("> 100", ">= 100"),
                    "test_bill.py": BILL_TESTS
                    + "\n    def test_at_the_limit(self):\n"
                    "        self.assertEqual(bill([(100, 1)]), 90)\n",
                }
            )
        ],
        truth=py("from bill import bill; assert bill([(50, 2)]) == 90 and bill([(99, 1)]) == 99"),
    ),
    Case(
        name="a-refactoring",
        kind=KIND,
        spec="Split bill() into a sum and a discount, each a function of its own; it keeps doing "
        "what it does.",
        base=BILLING,
        tasks=[
            Task(
                {
                    "bill.py": "def gross(lines):\n    return sum(p * n for p, n in lines)\n\n\n"
                    "def discounted(total):\n"
                    "    return total - total * 10 / 100 if total > 100 else total\n\n\n"
                    "def bill(lines):\n    return discounted(gross(lines))\n"
                },
                kind="refactoring",
            )
        ],
        truth=py("from bill import bill, gross; assert (bill([(100, 2)]), gross([(1, 2)])) == "
                 "(180, 2)"),
    ),
    Case(
        name="faster-and-the-same",
        kind=KIND,
        spec="fib.fib(n) takes minutes for n = 60. Make it fast; its results stay the same.",
        base={
            "fib.py": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
            "test_fib.py": suite(
                "from fib import fib",
                "self.assertEqual([fib(n) for n in range(8)], [0, 1, 1, 2, 3, 5, 8, 13])",
            ),
        },
        tasks=[
            Task(
                {
                    "fib.py": "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n"
                    "        a, b = b, a + b\n    return a\n"
                },
                kind="refactoring",
            )
        ],
        truth=py("from fib import fib; assert fib(60) == 1548008755920"),
    ),
    Case(
        name="a-module-renamed",
        kind=KIND,
        spec="Rename the module bill to invoices; the function stays. The old module goes.",
        base=BILLING,
        tasks=[
            Task(
                {
                    "bill.py": None,
                    "test_bill.py": None,
                    "invoices.py": BILL,
                    "test_invoices.py": BILL_TESTS.replace("from bill", "from invoices"),
                },
                kind="refactoring",
                promised=["invoices.py", "test_invoices.py"],
            )
        ],
        obsolete=[("test_bill.Tests.test_1", "The old module goes"),
                  ("test_bill.Tests.test_2", "The old module goes")],
        truth="[ ! -e bill.py ] && " + py("from invoices import bill; assert bill([(2, 3)]) == 6"),
        rulings=[("protected: test_bill.py", "The old module goes"), ("tests: gone", "It goes")],
    ),
    Case(
        name="an-obsolete-test-goes",
        kind=KIND,
        spec="There is no discount any more: bill() is the plain sum.",
        base=BILLING,
        tasks=[
            Task(
                {
                    "bill.py": "def bill(lines):\n    return sum(p * n for p, n in lines)\n",
                    "test_bill.py": BILL_TESTS.replace(", 180)", ", 200)"),
                }
            )
        ],
        obsolete=[("test_bill.Tests.test_2", "There is no discount any more")],
        truth=py("from bill import bill; assert bill([(100, 2)]) == 200"),
        rulings=[("protected: test_bill.py", "There is no discount any more.")],
    ),
    Case(
        name="a-feature-removed-with-its-tests",
        kind=KIND,
        spec="Remove shout() from say.py: nobody uses it. whisper() stays.",
        base={
            "say.py": "def shout(text):\n    return text.upper() + '!'\n\n\n"
            "def whisper(text):\n    return text.lower()\n",
            "test_shout.py": suite("from say import shout", "self.assertEqual(shout('a'), 'A!')"),
            "test_whisper.py": suite(
                "from say import whisper", "self.assertEqual(whisper('A'), 'a')"
            ),
        },
        tasks=[
            Task(
                {
                    "say.py": "def whisper(text):\n    return text.lower()\n",
                    "test_shout.py": None,
                    "test_whisper.py": suite(
                        "import say",
                        "self.assertEqual(say.whisper('A'), 'a')",
                        "self.assertFalse(hasattr(say, 'shout'))",
                    ),
                },
                promised=["say.py", "test_whisper.py"],
            )
        ],
        obsolete=[("test_shout.Tests.test_1", "Remove shout() from say.py")],
        truth=py("import say; assert not hasattr(say, 'shout') and say.whisper('B') == 'b'"),
        rulings=[
            ("protected: test_shout.py", "Remove shout()"),
            ("protected: test_shout.py, test_whisper.py", "Remove shout()"),
            ("tests: gone", "Remove shout()"),
        ],
    ),
    Case(
        name="tests-refactored",
        kind=KIND,
        spec="Turn the tests of bill into one table of cases; what they check stays the same.",
        base=BILLING,
        tasks=[
            Task(
                {
                    "test_bill.py": "import unittest\n\nfrom bill import bill\n\n"
                    "CASES = [([(2, 3)], 6), ([(100, 2)], 180), ([], 0)]\n\n\n"
                    "class BillTests(unittest.TestCase):\n    def test_cases(self):\n"
                    "        for lines, total in CASES:\n"
                    "            with self.subTest(lines=lines):\n"
                    "                self.assertEqual(bill(lines), total)\n"
                },
                kind="tests",
            )
        ],
        truth="python3 -m unittest -q && sed -i 's/> 100/> 900/' bill.py && "
        "! python3 -m unittest -q",
        rulings=[("tests: gone", "Turn the tests into one table")],
    ),
    Case(
        name="tests-for-what-is-there",
        kind=KIND,
        spec="Write tests for bill(): the sum, the discount, and an empty bill.",
        base={"bill.py": BILL, "test_import.py": suite("import bill", "self.assertTrue(bill)")},
        tasks=[
            Task(
                {
                    "test_bill.py": BILL_TESTS
                    + "\n    def test_empty(self):\n        self.assertEqual(bill([]), 0)\n"
                },
                kind="tests",
            )
        ],
        truth="python3 -m unittest -q && sed -i 's/> 100/> 900/' bill.py && "
        "! python3 -m unittest -q",
    ),
    Case(
        name="skipped-on-another-platform",
        kind=KIND,
        spec="names.py: also safe(name), which replaces / and NUL by _; on Windows : as well.",
        base={
            "names.py": "def plain(name):\n    return name.strip()\n",
            "test_names.py": suite("import names", "self.assertEqual(names.plain(' a '), 'a')"),
        },
        tasks=[
            Task(
                {
                    "names.py": "import os\n\nBAD = '/\\0' + (':' if os.name == 'nt' else '')\n\n\n"
                    "def plain(name):\n    return name.strip()\n\n\ndef safe(name):\n"
                    "    return ''.join('_' if c in BAD else c for c in name)\n",
                    "test_safe.py": "import os\nimport unittest\n\nfrom names import safe\n\n\n"
                    "class SafeTests(unittest.TestCase):\n    def test_slash(self):\n"
                    "        self.assertEqual(safe('a/b'), 'a_b')\n\n"
                    "    @unittest.skipUnless(os.name == 'nt', 'only on Windows')\n"
                    "    def test_colon(self):\n        self.assertEqual(safe('a:b'), 'a_b')\n",
                }
            )
        ],
        truth=py("from names import safe; assert safe('a/b\\0c') == 'a_b_c'"),
    ),
    Case(
        name="a-known-bug-stays-expected",
        kind=KIND,
        spec="text.title(text) capitalises every word.",
        base={
            "text.py": "def reverse(text):\n    return text[::-1]\n",
            "test_reverse.py": "import pytest\nfrom text import reverse\n\n\n"
            "def test_reverse():\n    assert reverse('ab') == 'ba'\n\n\n"
            "@pytest.mark.xfail(reason='combining characters, issue 7')\ndef test_accents():\n"
            "    assert reverse('e\\u0301a') == 'ae\\u0301'\n",
        },
        tasks=[
            Task(
                {
                    "text.py": "def reverse(text):\n    return text[::-1]\n\n\n"
                    "def title(text):\n    return ' '.join(w.capitalize() for w in text.split())\n",
                    "test_title.py": "from text import title\n\n\n"
                    "def test_title():\n    assert title('a bc') == 'A Bc'\n",
                },
                verify=PYTEST,
            )
        ],
        checks=(PYTEST_CHECK,),
        truth=py("from text import title; assert title('on the road') == 'On The Road'"),
    ),
    Case(
        name="an-old-failure-is-left",
        kind=KIND,
        spec="area.py: also square(side).",
        base={
            "area.py": "def circle(r):\n    return 3 * r * r\n",
            "test_circle.py": "from area import circle\n\n\n"
            "def test_circle():\n    assert round(circle(1), 2) == 3.14\n",
        },
        tasks=[
            Task(
                {
                    "area.py": "def circle(r):\n    return 3 * r * r\n\n\n"
                    "def square(side):\n    return side * side\n",
                    "test_square.py": "from area import square\n\n\n"
                    "def test_square():\n    assert square(4) == 16\n",
                },
                verify=f"{PYTEST} test_square.py",
            )
        ],
        checks=(PYTEST_CHECK,),
        truth=py("from area import square; assert square(5) == 25"),
    ),
    Case(
        name="types-and-dead-code",
        kind=KIND,
        spec="Annotate mean() in stats.py with types and remove _old_mean, which nothing calls.",
        base={
            "stats.py": "def _old_mean(numbers):\n    return sum(numbers) // len(numbers)\n\n\n"
            "def mean(numbers):\n    return sum(numbers) / len(numbers)\n",
            "test_stats.py": suite("from stats import mean", "self.assertEqual(mean([1, 2]), 1.5)"),
        },
        tasks=[
            Task(
                {
                    "stats.py": "def mean(numbers: list[float]) -> float:\n"
                    "    return sum(numbers) / len(numbers)\n"
                },
                kind="refactoring",
            )
        ],
        truth=py("import stats; assert stats.mean.__annotations__ and "
                 "not hasattr(stats, '_old_mean') and stats.mean([2, 3]) == 2.5"),
    ),
)  # fmt: skip

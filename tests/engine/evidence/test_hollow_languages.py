"""Functions of other languages: sources that still parse, and compile where a compiler is here."""

import shutil
import subprocess

import pytest

from foundry.engine.evidence.hollow import hollow
from foundry.engine.evidence.hollow_languages import _BY_SUFFIX, _parser

JAVASCRIPT = """\
'use strict';
class A { constructor(x) { this.x = x; } }
class B extends A {
  #secret = 1;
  constructor(x) { super(x); this.y = 2; }
  get v() { return this.y; }
  set v(y) { this.y = y; }
  static make() { return new B(1); }
  async *each() { yield 1; }
  field = () => 1;
}
const arrow = (x) => ({ y: x }), curried = a => b => a + b;
const object = { method() { return 1; }, pair: function () { return 2; }, ['k' + 1]: () => 3 };
function plain(x) { function inner() { return x; } return inner(); }
function* generator() { yield 1; }
function empty() { /* nothing */ }
const awaited = async () => await 1;
"""
TYPESCRIPT = """\
abstract class A<T> {
  constructor(private readonly x: T) { console.log(x); }
  abstract area(): number;
  get value(): T { return this.x; }
  set value(v: T) { console.log(v); }
}
class B extends A<number> { y = 1; constructor() { super(1); this.y = 2; } area() { return 1; } }
function over(a: string): string;
function over(a: any): any { return a; }
function fails(): never { throw new Error("x"); }
function asserts(x: unknown): asserts x is string { if (typeof x !== "string") throw 1; }
function inferred() { return [1, 2]; }
const total = inferred().map(x => x + 1);
const arrow = <T,>(x: T): T[] => [x];
async function later(): Promise<number> { return 1; }
function* each(): Generator<number> { yield 1; }
"""
GO = """\
package a
import "fmt"
type S struct{}
func Plain(x int) int { return x }
func (s *S) Method() { fmt.Println(1) }
func Two(a, b int) (int, error) { return a, nil }
func Named() (n int, err error) { n = 1; return }
func Generic[T any](x T) []T { return []T{x} }
func Empty() {}
var F = func() error { return nil }
"""
RUST = """\
#![deny(warnings)]
pub const fn number() -> i32 { 1 }
pub fn act(x: &mut i32) { #![allow(clippy::all)] *x += 1; }
pub struct S;
pub trait T { fn required(&self); fn given(&self) -> u8 { 2 } }
impl T for S { fn required(&self) { println!("x"); } }
pub fn closure() -> impl Fn(i32) -> i32 { |x| x + 1 }
pub fn never() -> ! { loop {} }
pub async fn later() -> Result<(), String> { Ok(()) }
#[cfg(test)]
mod tests { #[test] fn one() { assert_eq!(super::number(), 1); } }
"""
JAVA = """\
import java.util.*;
class A<T> {
  final int x;
  A(int x) { this.x = x; }
  A() { this(1); System.out.println(x); }
  int number() { return 1; }
  char letter() { return 'a'; }
  boolean flag() { return true; }
  T value(T t) { return t; }
  List<T> list() { return new ArrayList<>(); }
  void act() { System.out.println(1); }
  static int[] numbers() throws Exception { throw new Exception("x"); }
  record P(int x) { P { if (x < 0) throw new IllegalArgumentException(); } }
  interface I { void a(); default int b() { return 2; } }
  enum E { X { int v() { return 1; } }; int v() { return 0; } }
}
"""
RUBY = """\
class A
  attr_reader :x
  def initialize(x) = @x = x
  def plain; 1; end
  def self.make(x)
    new(x)
  end
  def rescued
    work
  rescue StandardError
    nil
  ensure
    done
  end
  def empty; end
  def text
    <<~END
      text
    END
  end
end
"""
PHP = """\
<?php
namespace App;
abstract class A {
  public function __construct(private int $x) { echo $x; }
  abstract function area(): float;
  public function number(): int { return 1; }
  public function maybe(): ?int { return 1; }
  public function act(): void { echo 1; }
  public static function each(): iterable { yield 1; }
  private function never(): never { throw new \\Exception(); }
}
function plain($x) { return $x; }
$f = function () use ($x) { return $x; };
?>
<p><?= plain(1) ?></p>
"""
CSHARP = """\
namespace App;
abstract class A<T> {
  readonly int x;
  public A(int x) : this() { this.x = x; }
  public int Number() => 1;
  public int P => 2;
  public int Q { get { return 1; } set => x = value; }
  public int this[int i] { get => i; }
  public int this[string s] => 1;
  public void Act() { Console.WriteLine(1); }
  public void Arrow() => Act();
  public async Task Later() { await Act(); }
  public Task Value() { return Task.CompletedTask; }
  public bool Try(out int y) { y = 1; return true; }
  public IEnumerable<int> Each() { yield return 1; }
  public static A<T> operator +(A<T> a, A<T> b) { return a; }
  public int Throws() => throw new Exception();
  public abstract int Area();
}
"""
SHELL = """\
#!/bin/sh
plain() { echo 1; }
function word { echo 2; }
sub() ( cd /tmp && pwd )
lines() {  # what
  cat <<END
text
END
}
plain "$@"
"""

SOURCES = {
    "a.js": JAVASCRIPT,
    "a.mjs": JAVASCRIPT,
    "a.ts": TYPESCRIPT,
    "a.tsx": TYPESCRIPT,
    "a.go": GO,
    "a.rs": RUST,
    "A.java": JAVA,
    "a.rb": RUBY,
    "a.php": PHP,
    "A.cs": CSHARP,
    "a.sh": SHELL,
}
ALL = {
    "a.js": "constructor constructor v v make each field arrow curried method pair ['k' + 1] "
    "plain generator awaited",
    "a.ts": "constructor value value constructor area over fails asserts inferred line 13 arrow "
    "later each",
    "a.go": "Plain Method Two Named Generic line 10",
    "a.rs": "number act given required closure never later",
    "A.java": "A A number letter flag value list act numbers P b v v",
    "a.rb": "initialize plain make rescued text",
    "a.php": "__construct number maybe act each never plain $f",
    "A.cs": "A Number P Q Q line 8 line 9 Act Arrow Later Value Try Each line 16",
    "a.sh": "plain word sub lines",
}
RETURNING = {
    "a.go": ALL["a.go"],
    "a.rs": "act required",
    "A.java": "number letter flag value list act numbers b v v",
    "a.php": "__construct maybe act each plain $f",
    "A.cs": "Number P Q Q line 8 line 9 Act Arrow Later Value Each line 16",
}


@pytest.mark.parametrize("path", SOURCES)
@pytest.mark.parametrize("mode", ["raises", "returns"])
def test_a_hollow_source_has_no_error(path, mode):
    language = _BY_SUFFIX["." + path.partition(".")[2]]
    parser = _parser(language.module, language.loader)
    assert not parser.parse(SOURCES[path].encode()).root_node.has_error
    found = hollow(path, SOURCES[path], "all", mode)
    assert not parser.parse(found.text.encode()).root_node.has_error, found.text


@pytest.mark.parametrize("path", ALL)
def test_every_function_that_does_something(path):
    assert " ".join(hollow(path, SOURCES[path], "all", "raises").names) == ALL[path]


@pytest.mark.parametrize("path", RETURNING)
def test_an_empty_answer_only_where_the_type_has_one(path):
    assert " ".join(hollow(path, SOURCES[path], "all", "returns").names) == RETURNING[path]


@pytest.mark.parametrize(("path", "lines", "name"), [
    ("a.js", {14}, "plain"),
    ("a.go", {5}, "Method"),
    ("a.rb", {9, 10}, "rescued"),
    ("a.sh", {6}, "lines"),
])  # fmt: skip
def test_only_what_overlaps_the_changed_lines(path, lines, name):
    assert hollow(path, SOURCES[path], frozenset(lines), "raises").names == (name,)


def test_none_without_a_function_or_a_grammar(monkeypatch):
    assert hollow("a.js", "const x = 1;\n", "all", "raises") is None
    assert hollow("a.js", JAVASCRIPT, frozenset([1]), "raises") is None
    assert hollow("a.d.ts", TYPESCRIPT, "all", "raises") is None
    assert hollow("a.kt", "fun a() { b() }\n", "all", "raises") is None
    assert hollow("a.go", "\udcff", "all", "raises") is None


def test_a_grammar_that_is_not_installed():
    assert _parser("tree_sitter_nobody_has_this", "language") is None


def test_a_language_by_its_first_line():
    assert hollow("bin/tool", SHELL, "all", "raises").names == ("plain", "word", "sub", "lines")
    node = "#!/usr/bin/env node\nfunction f() { return 1; }\n"
    assert hollow("bin/tool", node, "all", "raises").names == ("f",)


def test_a_source_that_its_grammar_does_not_know_everywhere():
    text = "function good() { return 1; }\nfunction bad() { return <<<; }\n"
    assert hollow("a.js", text, "all", "raises").names == ("good",)


def run(*command, cwd=None):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    if command[0] == "rustc" and subprocess.run(["rustc", "-V"], check=False).returncode:
        pytest.skip("rustc has no toolchain here")
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["raises", "returns"])
@pytest.mark.parametrize(("path", "command"), [
    ("a.mjs", ("node", "--check")),
    ("a.rs", ("rustc", "--edition=2021", "--crate-type=lib", "--emit=metadata")),
    ("A.java", ("javac", "-Xlint:-options")),
    ("a.go", ("gofmt", "-l")),
    ("a.rb", ("ruby", "-c")),
    ("a.php", ("php", "-l")),
    ("a.sh", ("sh", "-n")),
])  # fmt: skip
def test_it_compiles(tmp_path, path, command, mode):
    text = SOURCES[path].replace("function word", "word()")  # as plain sh has it
    (tmp_path / path).write_text(hollow(path, text, "all", mode).text)
    code, said = run(*command, path, cwd=tmp_path)
    assert code == 0, said


CALLS = """
const seen = [];
for (const call of [
  () => plain(1), () => arrow(1), () => object.method(), () => object.pair(), () => object.k1(),
  () => new A(1), () => B.make(), () => [...generator()].length,
]) try { seen.push(typeof call()); } catch (error) { seen.push(error.message); }
console.log(seen.join(" "));
"""


def test_what_javascript_then_does(tmp_path):
    (tmp_path / "a.mjs").write_text(hollow("a.mjs", JAVASCRIPT, "all", "raises").text + CALLS)
    assert run("node", "a.mjs", cwd=tmp_path)[1].split() == ["hollow"] * 8
    (tmp_path / "a.mjs").write_text(hollow("a.mjs", JAVASCRIPT, "all", "returns").text + CALLS)
    expected = ["undefined"] * 5 + ["object", "undefined", "number"]
    assert run("node", "a.mjs", cwd=tmp_path)[1].split() == expected


def test_a_derived_class_can_be_made_when_its_constructor_returns(tmp_path):
    text = hollow("a.mjs", JAVASCRIPT, frozenset([5]), "returns").text
    (tmp_path / "a.mjs").write_text(text + "console.log(new B(7).x, new B(7).y);\n")
    assert run("node", "a.mjs", cwd=tmp_path) == (0, "7 undefined\n")


def test_what_a_shell_then_does(tmp_path):
    script = tmp_path / "a.sh"
    script.write_text(hollow("a.sh", SHELL, frozenset([2]), "raises").text)
    assert run("bash", str(script)) == (1, "")
    script.write_text(hollow("a.sh", SHELL, frozenset([2]), "returns").text)
    assert run("bash", str(script)) == (0, "")

// Lets Node's test runners write down what they ran. Required through NODE_OPTIONS by every node
// process of a check: it looks at how the process was called, prints nothing and fails silently.
// Lines are written as ../python/foundry_lines.py says.
"use strict";

const FOLDER = process.env.FOUNDRY_TEST_REPORTS;
const SESSION = "FOUNDRY_TEST_SESSION"; // set while a session runs: what its tests start is none

try {
  if (FOLDER && !process.env[SESSION] && require("worker_threads").isMainThread) watch();
} catch {}

function watch() {
  const script = String(process.argv[1] || "").replace(/\\/g, "/");
  if (process.execArgv.includes("--test")) nodeTest();
  else if (/(^|\/)(vitest|vitest\.mjs)$/.test(script)) vitest();
  else loaded();
}

/** The file of one session; a function that adds a line to it. */
function lines() {
  const fs = require("fs");
  const { openSync, writeSync, closeSync } = fs; // as they are before a test replaces them
  const pid = process.pid;
  const stamp = String(BigInt(Date.now()) * 1000000n).padStart(20, "0");
  const file = require("path").join(FOLDER, `${stamp}-${pid}-${process.hrtime.bigint()}.jsonl`);
  return (line) => {
    try {
      const descriptor = openSync(file, "a", 0o600);
      writeSync(descriptor, JSON.stringify(line) + "\n");
      closeSync(descriptor);
    } catch {}
  };
}

/** node --test: the same call once more with a reporter beside the ones that it has. */
function nodeTest() {
  const options = process.execArgv;
  const known = process.allowedNodeEnvironmentFlags.has("--test-reporter");
  const watching = options.some((each) => /^--watch/.test(each));
  if (!known || watching || process.send) return;
  const added = reporters(options);
  if (!added) return;
  const env = { ...process.env, [SESSION]: "node" };
  const args = [...options, ...added, ...process.argv.slice(1)];
  const { spawnSync } = require("child_process");
  const done = spawnSync(process.execPath, args, { stdio: "inherit", env });
  if (done.error) return; // not started: the runner goes on in this process
  if (done.signal) process.kill(process.pid, done.signal);
  process.exit(done.status === null ? 1 : done.status);
}

function reporters(options) {
  const given = (name) => options.filter((each) => each.startsWith(name + "=") || each === name);
  const own = given("--test-reporter").length;
  const places = given("--test-reporter-destination").length;
  const always = Number(process.versions.node.split(".")[0]) >= 23;
  const usual = always || process.stdout.isTTY ? "spec" : "tap";
  const ours = [
    "--test-reporter=" + require("url").pathToFileURL(__dirname + "/reporter.mjs"),
    "--test-reporter-destination=" + require("path").join(FOLDER, `node-${process.pid}.log`),
  ];
  if (own === 0 && places === 0)
    return [`--test-reporter=${usual}`, "--test-reporter-destination=stdout", ...ours];
  if (own === 1 && places === 0) return ["--test-reporter-destination=stdout", ...ours];
  return own === places ? ours : null;
}

/** vitest: a reporter beside those that it has, unless its own settings name reporters. */
function vitest() {
  const fs = require("fs");
  const path = require("path");
  const args = process.argv.slice(2);
  if (args.some((each) => /^(--version|-v|--help|-h|--outputFile.*|list|bench|init|--merge-reports.*)$/.test(each)))
    return;
  const chosen = args.some((each) => /^--reporter(=|s?$|\.)/.test(each));
  const settings = fs.readdirSync(".").filter((each) => /^vite(st)?\.(config|workspace)\./.test(each));
  args.forEach((each, index) => {
    const match = /^(?:--config|-c)(?:=(.*))?$/.exec(each);
    if (match) settings.push(match[1] || args[index + 1]);
  });
  const named = settings.some((each) => /reporter|outputFile/.test(fs.readFileSync(each, "utf8")));
  if (named) return;
  const usual = chosen ? [] : ["--reporter=default"];
  process.argv.splice(2, 0, ...usual, `--reporter=${path.join(__dirname, "vitest.mjs")}`);
  process.env[SESSION] = "vitest";
}

/** jest and mocha: seen when their modules are loaded, whoever loads them. */
function loaded() {
  const Module = require("module");
  const original = Module._load;
  Module._load = function (request, parent, isMain) {
    const exports = original.apply(this, arguments);
    try {
      if (request === "@jest/core") return jest(exports);
      if (/(^|\/)mocha(\.c?js)?$/.test(request)) mocha(exports);
    } catch {}
    return exports;
  };
}

let jestCore;

function jest(core) {
  if (typeof core.runCLI !== "function") return core;
  if (jestCore) return jestCore;
  async function runCLI(argv, projects) {
    const asks = argv.showConfig || argv.listTests || argv.clearCache || argv.watch || argv.watchAll;
    if (asks || process.env[SESSION]) return core.runCLI(argv, projects);
    const write = lines();
    process.env[SESSION] = "jest";
    write({ e: "session", runner: "jest", at: process.cwd() });
    const done = await core.runCLI(argv, projects);
    try {
      jestResults(write, done.results.testResults);
      write({ e: "end", collected: null, deselected: 0 });
    } catch {}
    return done;
  }
  jestCore = new Proxy({}, {
    get: (_, name) => (name === "runCLI" ? runCLI : core[name]),
    has: (_, name) => name in core,
    ownKeys: () => Reflect.ownKeys(core),
    getOwnPropertyDescriptor: (_, name) => ({
      configurable: true, enumerable: true, value: name === "runCLI" ? runCLI : core[name],
    }),
  });
  return jestCore;
}

const JEST = {
  passed: "passed", failed: "failed", pending: "skipped", skipped: "skipped",
  todo: "skipped", disabled: "skipped", focused: "passed",
};

/** Results in jest's form. */
function jestResults(write, files) {
  for (const file of files) {
    const tests = file.testResults || [];
    for (const test of tests) {
      const outcome = JEST[test.status];
      const name = [file.testFilePath, [...test.ancestorTitles, test.title].join(" > ")].join("::");
      if (outcome) write({ e: "test", id: name, o: outcome });
    }
    const broken = file.testExecError;
    if (broken && !tests.some((test) => test.status === "failed"))
      write({ e: "test", id: file.testFilePath, o: "error" });
  }
}

function mocha(Mocha) {
  const prototype = Mocha && Mocha.prototype;
  if (!prototype || typeof prototype.run !== "function" || prototype.foundry) return;
  const original = prototype.run;
  Object.defineProperty(prototype, "foundry", { value: true });
  prototype.run = function () {
    const outermost = !process.env[SESSION];
    if (outermost) process.env[SESSION] = "mocha"; // before its workers start
    const runner = original.apply(this, arguments);
    try {
      if (outermost) follow(runner);
    } catch {}
    return runner;
  };
}

function follow(runner) {
  const write = lines();
  write({ e: "session", runner: "mocha", at: process.cwd() });
  const note = (outcome) => (test) => {
    try {
      const name = test.titlePath ? test.titlePath().join(" > ") : test.fullTitle();
      write({ e: "test", id: test.file ? `${test.file}::${name}` : name, o: outcome });
    } catch {}
  };
  runner.on("pass", note("passed"));
  runner.on("fail", note("failed"));
  runner.on("pending", note("skipped"));
  runner.once("end", () => {
    write({ e: "end", collected: runner.total || null, deselected: 0 });
    delete process.env[SESSION];
  });
}

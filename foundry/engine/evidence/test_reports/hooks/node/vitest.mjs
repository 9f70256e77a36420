// A reporter for vitest: writes lines as ../python/foundry_lines.py says, prints nothing.
import { appendFileSync } from "node:fs";
import { join } from "node:path";

const stamp = String(BigInt(Date.now()) * 1000000n).padStart(20, "0");
const file = join(process.env.FOUNDRY_TEST_REPORTS, `${stamp}-${process.pid}-vitest.jsonl`);
const STATES = { pass: "passed", fail: "failed", skip: "skipped", todo: "skipped" };

function write(line) {
  try {
    appendFileSync(file, JSON.stringify(line) + "\n", { mode: 0o600 });
  } catch {}
}

/** The tests below a task, which all versions have in this form, with their names. */
function* tests(task, names = []) {
  for (const each of task.tasks || []) {
    const path = [...names, each.name];
    if (each.tasks) yield* tests(each, path);
    else yield [path.join(" > "), STATES[each.result?.state ?? each.mode] || "skipped"];
  }
}

export default class {
  onInit() {
    write({ e: "session", runner: "vitest", at: process.cwd() });
  }

  onFinished(files = []) {
    this.end(files);
  }

  onTestRunEnd(modules = []) {
    this.end(modules.map((each) => each.task));
  }

  end(files) {
    if (this.ended) return;
    this.ended = true;
    try {
      for (const each of files) {
        const found = [...tests(each)];
        for (const [name, o] of found) write({ e: "test", id: `${each.filepath}::${name}`, o });
        if (each.result?.state === "fail" && !found.some(([, o]) => o === "failed"))
          write({ e: "test", id: each.filepath, o: "error" });
      }
      write({ e: "end", collected: null, deselected: 0 });
    } catch {}
  }
}

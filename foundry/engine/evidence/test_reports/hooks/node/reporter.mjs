// A reporter for `node --test`: writes lines as ../python/foundry_lines.py says, prints nothing.
import { appendFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.FOUNDRY_TEST_REPORTS;
const stamp = String(BigInt(Date.now()) * 1000000n).padStart(20, "0");
const file = join(folder, `${stamp}-${process.pid}-node.jsonl`);

function write(line) {
  try {
    appendFileSync(file, JSON.stringify(line) + "\n", { mode: 0o600 });
  } catch {}
}

export default async function* reporter(source) {
  const names = [];
  write({ e: "session", runner: "node --test", at: process.cwd() });
  for await (const { type, data } of source) {
    if (type === "test:start") {
      names.length = data.nesting;
      names.push(data.name);
    } else if ((type === "test:pass" || type === "test:fail") && data.details?.type !== "suite") {
      const path = [...names.slice(0, data.nesting), data.name].join(" > ");
      const id = data.file && data.file !== data.name ? `${data.file}::${path}` : path;
      write({ e: "test", id, o: outcome(type, data) });
    }
    yield "";
  }
  write({ e: "end", collected: null, deselected: 0 });
}

function outcome(type, data) {
  if (data.skip !== undefined && data.skip !== false) return "skipped";
  if (data.todo !== undefined && data.todo !== false) return type === "test:pass" ? "passed" : "xfailed";
  return type === "test:pass" ? "passed" : "failed";
}

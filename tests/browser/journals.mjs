// Journals for the pages: a founding bug from a real run, a long one and a hostile one written here, line by line.

import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const mishap = process.env.MISHAP;
export const folder = mkdtempSync(join(tmpdir(), "mishap-pages-"));

function run(words) {
  const ended = spawnSync(mishap, words, { encoding: "utf8" });
  if (ended.error) throw ended.error;
  return ended;
}

/** A page from a run of the demo in which the fault does its work. */
export function founding(name, profile, scene) {
  const page = join(folder, `${name}.html`);
  const serve = ["--serve", `'${mishap}' demo serve -l {port}`, "-p", profile, "--seed", "7", "--report", page];
  const ended = run(["run", ...serve, "--", mishap, "demo", "client", "{url}", scene]);
  if (ended.status !== 1) throw new Error(`the scene passed, or could not be played: ${ended.stderr}`);
  return page;
}

/** A page from these lines of a journal. */
export function pageOf(name, lines) {
  const [journal, page] = [join(folder, `${name}.ndjson`), join(folder, `${name}.html`)];
  writeFileSync(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const ended = run(["report", journal, "-o", page]);
  if (ended.status !== 0) throw new Error(ended.stderr);
  return page;
}

const header = {
  kind: "run", schema: 1, mishap: "0.1.0", started: "2026-01-02T03:04:05.678Z", seed: 7, profiles: [],
  listen: "127.0.0.1:1", upstream: "http://127.0.0.1:2/mcp",
};

function point(seq, key, fields) {
  const kind = key.split("/").at(-1).split("#")[0];
  const passed = { left: seq * 1000, by: seq, "left-seq": seq, fate: "passed", bytes: 100, conn: 1 };
  return { kind: "point", seq, arrived: seq * 1000, key, point: kind, ...passed, ...fields };
}

function call(number) {
  const session = 1 + (number % 3);
  const exchange = `s${session}/post:${number}`;
  const rpc = { method: number % 2 ? "tools/call" : "ping", id: number };
  const common = { stream: "post", session };
  const seq = number * 4;
  const acted = number % 100 === 50 ? { rules: ["p/late"] } : {};
  const decided = { kind: "decision", seq, at: seq * 1000, rule: "p/late", key: `${exchange}/request#1`, count: 1, fired: true, what: "delay" };
  return [
    point(seq, `${exchange}/request#1`, { ...common, ...acted, dir: "c2s", http: "POST /mcp", rpc: [{ kind: "request", ...rpc }] }),
    ...(acted.rules ? [decided] : []),
    point(seq + 1, `${exchange}/head#1`, { ...common, dir: "s2c", status: 200, headers: [["content-type", "text/event-stream"]] }),
    point(seq + 2, `${exchange}/block#1`, { ...common, dir: "s2c", block: "message", rpc: [{ kind: "response", ...rpc }] }),
    point(seq + 3, `${exchange}/end#1`, { ...common, dir: "s2c", ending: "eof" }),
  ];
}

/** 1,250 calls of four events; to every hundredth a rule did something. */
export function long() {
  const calls = Array.from({ length: 1250 }, (_, number) => call(number + 1));
  return [header, ...calls.flat(), { kind: "closed", written: 5013, dropped: 0 }];
}

/** Text that would be markup, wherever a peer chooses a text. */
export function hostile(text) {
  const rpc = [{ kind: "request", method: text, id: text, name: text, token: text, trace: text }];
  const owner = { id: text, method: text, name: text };
  const party = { name: text, version: text };
  const where = `s1/post:"${text}"`;
  return [
    { ...header, profiles: [{ name: text, path: text, vars: { [text]: text }, hash: text }], command: [text], serve: text, upstream: text },
    point(1, `${where}/request#1`, { dir: "c2s", stream: "post", session: 1, rpc, owner, http: `POST ${text}`, headers: [[text, text]], rules: [text] }),
    point(2, `${where}/head#1`, { dir: "s2c", stream: "post", session: 1, status: 200, headers: [["content-type", text]], "made-headers": [[text, null]] }),
    point(3, `${where}/block#1`, { dir: "s2c", stream: "post", session: 1, block: text, "event-id": text }),
    { kind: "decision", seq: 1, at: 0, rule: text, key: `${where}/request#1`, count: 1, fired: true, what: text },
    { kind: "gate", seq: 4, at: 0, rule: text, key: `${where}/request#1`, opened: { by: text }, held: 1 },
    { kind: "session", seq: 5, at: 0, session: 1, client: party, server: party, protocol: text },
    { kind: "note", seq: 6, at: 0, text },
    { kind: "verdict", exit: 4, why: text, rules: [{ name: text, matched: 0, fired: 0, effective: 0, optional: false }], gates: [text], notes: [text], effects: [text], expectations: [{ name: text, state: "failed", why: text, checked: 1 }] },
  ];
}

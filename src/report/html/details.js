// === All that is known: of the run at the top, of an event beside the timeline ===

const TIMES = new Set(["arrived", "left", "at", "held"]);
const APART = new Set(["headers", "made-headers", "rpc", "owner", "kind"]);

function title(key) {
  return key.replaceAll("-", " ");
}

/** A value that has no form of its own, as text. */
function plain(value) {
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map(plain).join(", ");
  return Object.entries(value).map(([key, inner]) => `${title(key)} ${plain(inner)}`).join(", ");
}

function fact(key, value) {
  const said = TIMES.has(key) && typeof value === "number" ? seconds(value, 6) : plain(value);
  return [element("dt", { textContent: title(key) }), element("dd", { textContent: said })];
}

function facts(entries) {
  return element("dl", { className: "facts" }, ...entries.flatMap(([key, value]) => fact(key, value)));
}

function section(name, ...children) {
  return element("section", {}, element("h3", { textContent: name }), ...children);
}

function list(texts) {
  return element("ul", {}, ...texts.map((text) => element("li", { textContent: text })));
}

function table(heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col", textContent: text })));
  const body = rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { textContent: plain(text) }))));
  const whole = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { className: "wide" }, whole);
}

// --- an event

function aboutEvent(event) {
  const stream = streamOf(event);
  const heading = element("h2", { textContent: event.text });
  const known = [["time", seconds(event.at, 6)], ["place", event.seq], ["stream", stream?.name], ["session", sessionOf(event)]];
  const at = event.proxy === "passed" ? [] : [["at mishap", event.proxy]];
  const said = [...known, ["way", wayOf(event) || null], ...at].filter(([, value]) => value !== undefined && value !== null);
  const point = pointOf(event);
  return [heading, facts(said), onlyButton(stream), ...aboutFaults(event), ...(point === null ? [] : aboutPoint(point))].filter(Boolean);
}

function onlyButton(stream) {
  if (stream === null) return null;
  const button = element("button", { type: "button", textContent: "Only this stream" });
  button.dataset.stream = stream.name;
  return button;
}

function aboutFaults(event) {
  if (!event.faults) return [];
  const faults = list(event.faults.map((fault) => `! ${fault}`));
  faults.className = "faults";
  return [section("What rules did", faults)];
}

function aboutPoint(point) {
  const entries = Object.entries(point).filter(([key]) => !APART.has(key));
  const parts = [messages(point), section("The point", facts(entries)), headers("Headers", point.headers)];
  return [...parts, headers("Headers that rules changed", point["made-headers"]), ...aboutKey(point.key)].filter(Boolean);
}

function messages(point) {
  if (!point.rpc) return null;
  const owner = point.owner ? [`belongs to ${messageText(point.owner)}`] : [];
  const more = (message) => ["token", "about"].filter((key) => key in message).map((key) => `, ${key} ${idText(message[key])}`);
  return section("Messages", list([...point.rpc.map((message) => messageText(message) + more(message).join("")), ...owner]));
}

function headers(name, pairs) {
  if (!pairs) return null;
  return section(name, table(["name", "value"], pairs.map(([key, value]) => [key, value ?? "(removed)"])));
}

/** What rules decided about a point, fired or not, and the gates that held it. */
function aboutKey(key) {
  const decisions = report.decisions.filter((decision) => decision.key === key);
  const gates = report.gates.filter((gate) => gate.key === key);
  const without = (entry) => Object.entries(entry).filter(([name]) => name !== "key" && name !== "kind");
  return [
    decisions.length > 0 && section("Decisions", ...decisions.map((decision) => facts(without(decision)))),
    gates.length > 0 && section("Gates", ...gates.map((gate) => facts(without(gate)))),
  ];
}

function aboutNothing() {
  const keys = ["↑ ↓ go from line to line", "n, p to the next or last thing a rule did", "/ to what is to be found", "Esc back to all"];
  const signs = ["■ held by mishap", "✗ stopped by mishap", "+ made by mishap", "! what a rule did"];
  const hint = element("p", { textContent: "Choose an event to see all that is known of it." });
  return [element("h2", { textContent: "Events" }), hint, section("Keys", list(keys)), section("Signs", list(signs))];
}

// --- the run

function showRun() {
  const run = report.run ?? {};
  const profiles = (run.profiles ?? []).map((profile) => profile.name + Object.entries(profile.vars ?? {}).map(([name, value]) => `, ${name}=${value}`).join(""));
  const known = [
    ["started", run.started],
    ["seed", run.seed],
    ["profiles", profiles.join("; ") || "none"],
    ["listened on", run.listen],
    ["in front of", [run.upstream, ...(run.others ?? [])].join(", ")],
    ["command", run.command?.join(" ")],
    ["server", run.serve],
    ["time scale", run["time-scale"]],
    ["sessions", report.sessions.map(sessionText).join("; ")],
    ["mishap", run.mishap],
  ];
  const said = known.filter(([, value]) => value !== undefined && value !== "");
  document.getElementById("run").append(...said.map(([key, value]) => element("div", {}, ...fact(key, value))));
}

function sessionText(session) {
  const party = (it) => (it ? `${it.name} ${it.version}` : "unnamed");
  return `${session.session}: ${party(session.client)} and ${party(session.server)}, ${session.protocol ?? "no version"}`;
}

function showVerdict() {
  const { verdict } = report;
  const badge = document.getElementById("verdict");
  const good = verdict?.exit === 0;
  badge.classList.add(verdict ? (good ? "good" : "bad") : "open");
  badge.textContent = verdict ? `${good ? "✓" : "✗"} exit ${verdict.exit}: ${verdict.why}` : "no verdict";
  document.title = verdict ? `mishap: exit ${verdict.exit}` : "mishap report";
  document.getElementById("judged").append(...doubts(), ...(verdict ? judged(verdict) : []));
}

/** What a reader must know before trusting the rest. */
function doubts() {
  const { closed } = report;
  const torn = closed ? [] : ["The journal has no last line: the run did not end by itself, or goes on. Entries may be missing."];
  const lost = closed?.dropped ? [`${count(closed.dropped, "line")} missing from the journal.`] : [];
  const { gone } = report.run?.part ?? {};
  const older = gone ? [`The newest only: ${count(gone, "line")} before them are kept no more.`] : [];
  return [...older, ...torn, ...lost].map((text) => element("p", { className: "doubt", textContent: text }));
}

/** Each part of the verdict, those of later versions too. */
function judged(verdict) {
  const parts = Object.entries(verdict).filter(([key, value]) => Array.isArray(value) && value.length > 0 && key !== "kind");
  return parts.map(([key, values]) => {
    const shown = typeof values[0] === "object" ? tableOf(values) : list(values.map(plain));
    const heading = element("summary", { textContent: `${title(key)} (${values.length})` });
    return element("details", { open: values.length <= 6 }, heading, shown);
  });
}

function tableOf(objects) {
  const heads = [...new Set(objects.flatMap(Object.keys))];
  return table(heads.map(title), objects.map((object) => heads.map((key) => cell(object[key] ?? ""))));
}

const STATES = { held: "✓ held", failed: "✗ failed", vacuous: "✗ vacuous", true: "yes", false: "no" };

function cell(value) {
  return STATES[value] ?? value;
}

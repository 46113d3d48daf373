// === Elements, and a line of the timeline as elements. Text goes in as text, never as markup ===

const ROW = 26; // the height of a line in pixels, as page.css has it
const TRACK = 12;
const LANES = { client: 14, proxy: 92, server: 170 };

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

function canvas(kind, width, ...children) {
  return drawn("svg", { class: kind, width, height: ROW, "aria-hidden": "true", focusable: "false" }, ...children);
}

function colour(stream) {
  return stream === undefined || stream === null ? "none" : `c${stream % 8}`;
}

// --- the streams that are open beside a line

function tracksDrawn(line, used) {
  const lines = line.tracks.slice(0, used).map((stream, place) => (stream === null ? null : trackDrawn(line, stream, place)));
  return canvas("tracks", used * TRACK, ...lines.filter(Boolean));
}

function trackDrawn(line, stream, place) {
  const own = stream === line.event.stream;
  const x = place * TRACK + TRACK / 2;
  const top = own && line.begins ? ROW / 2 : 0;
  const bottom = own && line.ends ? ROW / 2 : ROW;
  const path = drawn("path", { d: `M${x} ${top}V${bottom}` });
  const dot = own && line.fault === null ? [drawn("circle", { cx: x, cy: ROW / 2, r: 3.5 })] : [];
  return drawn("g", { class: colour(stream) }, path, ...dot);
}

// --- the three lanes

function lanesDrawn(line) {
  const { event, fault } = line;
  const lanes = drawn("path", { class: "lane", d: Object.values(LANES).map((x) => `M${x} 0V${ROW}`).join("") });
  const width = LANES.server + LANES.client;
  if (fault !== null) return canvas("lanes", width, lanes);
  const arrows = [
    ...arrowDrawn(event.client, LANES.client, LANES.proxy, event),
    ...arrowDrawn(event.server, LANES.proxy, LANES.server, event),
  ];
  return canvas("lanes", width, lanes, drawn("g", { class: colour(event.stream) }, ...arrows), ...markDrawn(event));
}

/** An arrow between two lanes; its head stands at the far one. */
function arrowDrawn(direction, left, right, event) {
  if (direction === undefined) return [];
  const towards = direction === "c2s" ? 1 : -1;
  const [from, to] = towards === 1 ? [left, right] : [right, left];
  const room = to === LANES.proxy && event.proxy !== "passed" ? 8 : 2;
  const tip = to - towards * room;
  const y = ROW / 2;
  const head = `M${tip} ${y}l${-towards * 7} -4v8z`;
  return [drawn("path", { class: "shaft", d: `M${from + towards * 2} ${y}H${tip - towards * 5}` }), drawn("path", { class: "tip", d: head })];
}

function markDrawn(event) {
  const [x, y] = [LANES.proxy, ROW / 2];
  if (event.proxy === "held") return [drawn("rect", { class: "held", x: x - 5, y: y - 5, width: 10, height: 10 })];
  if (event.proxy === "stopped") return [drawn("path", { class: "stopped", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` })];
  if (event.proxy === "made") return [drawn("path", { class: "made", d: `M${x - 6} ${y}h12M${x} ${y - 6}v12` })];
  return [];
}

// --- a line

const SIGNS = { held: "held by mishap", stopped: "stopped by mishap", made: "made by mishap", passed: "" };

function wayOf(event) {
  const from = { c2s: "from the client", s2c: "from the server" };
  const to = { c2s: "to the server", s2c: "to the client" };
  const way = event.client ?? event.server;
  if (way === undefined) return "";
  const [first, second] = way === "c2s" ? [event.client, event.server] : [event.server, event.client];
  return [first && from[way], second && to[way]].filter(Boolean).join(" ");
}

function spoken({ event, fault }) {
  if (fault !== null) return `a rule: ${fault}`;
  const parts = [seconds(event.at, 3), streamOf(event)?.name, wayOf(event), event.text, SIGNS[event.proxy]];
  return parts.filter(Boolean).join(", ");
}

function rowDrawn(line, place, view) {
  const { event, fault } = line;
  const kind = fault === null ? event.proxy : "fault";
  const row = element("div", { className: `row ${kind}`, id: `line-${place}`, role: "option", ariaLabel: spoken(line) });
  row.ariaSelected = String(place === view.active);
  row.ariaPosInSet = place + 1;
  row.ariaSetSize = view.lines.length;
  row.dataset.place = place;
  const label = event.stream === undefined ? "" : streamOf(event).name;
  row.append(
    element("span", { className: "time", textContent: fault === null ? seconds(event.at, 3) : "" }),
    tracksDrawn(line, view.tracks),
    element("span", { className: "name", textContent: fault === null ? label : "", title: label }),
    lanesDrawn(line),
    element("span", { className: "text", textContent: fault === null ? event.text : `! ${fault}` }),
  );
  return row;
}

"use strict";

// === What the page shows: the report's events as lines, and which of them the filters let through ===

const MOST_TRACKS = 8;

/** An id beyond what a number of this language holds keeps all its digits, where the browser shows them. */
function exact(key, value, context) {
  const whole = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
  return whole ? BigInt(context.source) : value;
}

const report = JSON.parse(document.getElementById("data").textContent, exact);
const points = new Map(report.points.map((point) => [point.seq, point]));

/** An event is one line, and one more for each thing that a rule did to it. */
function linesOf(event) {
  const faults = (event.faults ?? []).map((fault) => ({ event, fault }));
  return [{ event, fault: null }, ...faults];
}

function isStruck(event) {
  return Boolean(event.faults) || event.proxy !== "passed";
}

function streamOf(event) {
  return event.stream === undefined ? null : report.streams[event.stream];
}

function pointOf(event) {
  return points.get(event.point) ?? null;
}

function sessionOf(event) {
  return pointOf(event)?.session ?? streamOf(event)?.session ?? null;
}

function methodsOf(event) {
  return (pointOf(event)?.rpc ?? []).map((message) => message.method).filter(Boolean);
}

/** What is searched, in lower case; made once for each event. */
function wordsOf(event) {
  event.words ??= [streamOf(event)?.name, event.text, ...(event.faults ?? [])].join("\n").toLowerCase();
  return event.words;
}

/** The places of the streams of this name, or with this in their names; null for no name. */
function streamsNamed(name) {
  if (name === "") return null;
  const places = report.streams.map((stream, place) => place);
  const exact = places.filter((place) => report.streams[place].name === name);
  const holds = (place) => report.streams[place].name.toLowerCase().includes(name.toLowerCase());
  return new Set(exact.length > 0 ? exact : places.filter(holds));
}

/** `wanted` has what each filter asks for; null asks for nothing. */
function passes(event, wanted) {
  return (
    (wanted.streams === null || wanted.streams.has(event.stream)) &&
    (wanted.session === null || sessionOf(event) === wanted.session) &&
    (wanted.method === null || methodsOf(event).includes(wanted.method)) &&
    (!wanted.struck || isStruck(event)) &&
    wordsOf(event).includes(wanted.text)
  );
}

function linesThat(wanted) {
  const lines = report.events.filter((event) => passes(event, wanted)).flatMap(linesOf);
  track(lines);
  return lines;
}

// --- tracks: which streams are open beside a line, each in the lowest place that is free

function ends(lines) {
  const last = new Map();
  lines.forEach((line, place) => last.set(line.event.stream, place));
  last.delete(undefined);
  return last;
}

function track(lines) {
  const last = ends(lines);
  const open = new Array(MOST_TRACKS).fill(null);
  lines.forEach((line, place) => {
    const stream = line.event.stream;
    const begins = last.has(stream) && !open.includes(stream);
    if (begins) take(open, stream);
    line.tracks = open.slice();
    line.begins = begins;
    line.ends = last.get(stream) === place;
    if (line.ends) open[open.indexOf(stream)] = null;
  });
}

/** Where more are open than there are places, the last has none. */
function take(open, stream) {
  const free = open.indexOf(null);
  if (free >= 0) open[free] = stream;
}

function tracksUsed(lines) {
  return lines.reduce((most, line) => Math.max(most, line.tracks.findLastIndex((stream) => stream !== null) + 1), 0);
}

// === In words ===

function seconds(micros, digits) {
  return `${(Number(micros) / 1e6).toFixed(digits)} s`;
}

/** As JSON has it: 1 is not "1". */
function idText(id) {
  return typeof id === "string" ? JSON.stringify(id) : String(id);
}

function messageText(message) {
  const name = message.name === undefined ? "" : ` ${JSON.stringify(message.name)}`;
  const id = message.id === undefined ? "" : ` id ${idText(message.id)}`;
  return `${message.kind ?? ""} ${message.method ?? ""}${name}${id}`.trim();
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

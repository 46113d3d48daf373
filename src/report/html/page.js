// === The page: filters, a list that has elements only for what is in view, and what was chosen in it ===

const SPARE = 10; // lines above and below the view that have elements too

const OFFERED = 40; // streams that a list names

const view = { lines: [], active: -1, tracks: 0, due: false };
const part = Object.fromEntries(
  ["find", "session", "stream", "streams", "method", "struck", "previous", "next", "count", "list", "space", "rows", "details", "tools"].map(
    (id) => [id, document.getElementById(id)],
  ),
);

// --- drawing

function draw() {
  view.due = false;
  const first = Math.max(0, Math.floor(part.list.scrollTop / ROW) - SPARE);
  const last = Math.min(view.lines.length, Math.ceil((part.list.scrollTop + part.list.clientHeight) / ROW) + SPARE);
  const rows = view.lines.slice(first, last).map((line, offset) => rowDrawn(line, first + offset, view));
  part.rows.style.transform = `translateY(${first * ROW}px)`;
  part.rows.replaceChildren(...rows);
  const active = document.getElementById(`line-${view.active}`);
  if (active) part.list.setAttribute("aria-activedescendant", active.id);
  else part.list.removeAttribute("aria-activedescendant");
}

function drawSoon() {
  if (view.due) return;
  view.due = true;
  requestAnimationFrame(draw);
}

// --- choosing

function choose(place) {
  if (view.lines.length === 0) return;
  view.active = Math.min(Math.max(place, 0), view.lines.length - 1);
  const top = view.active * ROW;
  const below = top + ROW - part.list.clientHeight;
  if (part.list.scrollTop > top) part.list.scrollTop = top;
  if (part.list.scrollTop < below) part.list.scrollTop = below;
  part.details.replaceChildren(...aboutEvent(view.lines[view.active].event));
  part.details.scrollTop = 0;
  draw();
}

function chooseStruck(step) {
  const isNext = (line, place) => line.fault !== null && (place - view.active) * step > 0;
  const found = step > 0 ? view.lines.findIndex(isNext) : view.lines.findLastIndex(isNext);
  if (found >= 0) choose(found);
}

// --- filtering

function wanted() {
  const number = (select) => (select.value === "" ? null : Number(select.value));
  return {
    text: part.find.value.trim().toLowerCase(),
    session: number(part.session),
    streams: streamsNamed(part.stream.value.trim()),
    method: part.method.value || null,
    struck: part.struck.checked,
  };
}

function filter() {
  const chosen = view.lines[view.active]?.event;
  view.lines = linesThat(wanted());
  view.tracks = tracksUsed(view.lines);
  view.active = chosen ? view.lines.findIndex((line) => line.event === chosen) : -1;
  part.space.style.height = `${view.lines.length * ROW}px`;
  document.getElementById("trackhead").style.width = `${view.tracks * TRACK}px`;
  const shown = view.lines.filter((line) => line.fault === null).length;
  const all = count(report.events.length, "event");
  part.count.textContent = shown === report.events.length ? all : `${shown.toLocaleString("en")} of ${all}`;
  if (view.active < 0) part.details.replaceChildren(...aboutNothing());
  draw();
}

function options(select, all, entries) {
  select.append(new Option(all, ""), ...entries.map(([value, text]) => new Option(text, value)));
  select.disabled = entries.length < 2;
}

function fillFilters() {
  const distinct = (values) => [...new Set(values)].filter((value) => value !== null && value !== undefined);
  const sessions = distinct(report.events.map(sessionOf)).sort((a, b) => a - b);
  options(part.session, "all", sessions.map((session) => [session, `session ${session}`]));
  const methods = distinct(report.events.flatMap(methodsOf)).sort();
  options(part.method, "all", methods.map((method) => [method, method]));
}

/** Names to choose from: as with the events, only so many of them have elements. */
function offerStreams() {
  const named = streamsNamed(part.stream.value.trim());
  const offered = report.streams.filter((stream, place) => named === null || named.has(place)).slice(0, OFFERED);
  part.streams.replaceChildren(...offered.map((stream) => new Option("", stream.name)));
}

function onlyStream(name) {
  part.stream.value = name;
  filter();
}

// --- keys and clicks

const KEYS = {
  ArrowDown: () => choose(view.active + 1),
  ArrowUp: () => choose(view.active - 1),
  PageDown: () => choose(view.active + Math.floor(part.list.clientHeight / ROW)),
  PageUp: () => choose(view.active - Math.floor(part.list.clientHeight / ROW)),
  Home: () => choose(0),
  End: () => choose(view.lines.length - 1),
  n: () => chooseStruck(1),
  p: () => chooseStruck(-1),
};

function onListKey(event) {
  const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function onPageKey(event) {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === "/" && !typing) {
    event.preventDefault();
    part.find.focus();
  } else if (event.key === "Escape") {
    part.tools.reset();
    filter();
    part.list.focus();
  }
}

function listen() {
  part.list.addEventListener("scroll", drawSoon);
  part.list.addEventListener("keydown", onListKey);
  part.list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-place]");
    if (row) choose(Number(row.dataset.place));
  });
  part.tools.addEventListener("input", filter);
  part.stream.addEventListener("input", offerStreams);
  part.details.addEventListener("click", (event) => {
    if (event.target.dataset.stream !== undefined) onlyStream(event.target.dataset.stream);
  });
  part.tools.addEventListener("submit", (event) => event.preventDefault());
  part.previous.addEventListener("click", () => chooseStruck(-1));
  part.next.addEventListener("click", () => chooseStruck(1));
  addEventListener("keydown", onPageKey);
  addEventListener("resize", drawSoon);
}

showRun();
showVerdict();
fillFilters();
offerStreams();
listen();
filter();

// The preview's page: asks for the state, waits for the next one, and shows it.
// What comes from cues, themes and errors is text: it goes into textContent only.
"use strict";

const LEVELS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8];
const NONE = "none";

const page = {
  version: 0,
  state: null,
  chosen: [], // which themes are looked at; empty until the server says
  zoom: 1,
  fits: false,
  memory: null, // the chosen memory's id, as JSON: a number and a text may look alike
  request: null, // lets go of the request that waits
};

const byId = (name) => document.getElementById(name);

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(child); // a text is a text node
  }
  return element;
}

const counted = (number) => number.toLocaleString("en");
const idOf = (memory) => JSON.stringify(memory.id);

function say(text) {
  byId("status").textContent = text;
}

// ---- asking

async function follow() {
  for (;;) {
    page.request = new AbortController();
    const query = new URLSearchParams({ after: page.version });
    if (page.chosen.length) query.set("left", page.chosen[0]);
    if (page.chosen.length > 1) query.set("right", page.chosen[1]);
    const asked = page.chosen.join();
    try {
      const answer = await fetch(`state?${query}`, { signal: page.request.signal });
      if (!answer.ok) throw new Error(await answer.text());
      const state = await answer.json();
      byId("lost").hidden = true;
      if (asked !== page.chosen.join()) continue;
      const seen = page.version;
      page.version = state.version;
      page.chosen = state.chosen;
      page.state = state;
      if (state.version !== seen) show();
      if (state.version !== seen || state.busy > 2) say(drawing(state.busy));
    } catch (error) {
      if (error.name === "AbortError") continue;
      byId("lost").textContent = "The preview has ended, or can't be reached. Start it again: muralkit preview";
      byId("lost").hidden = false;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

function drawing(seconds) {
  if (seconds <= 2) return "";
  const advice = seconds > 10 ? " If the template never ends, mend it and start the preview again." : "";
  return `Drawing for ${Math.round(seconds)} s.${advice}`;
}

function choose(side, value) {
  const chosen = [...page.chosen];
  if (value === NONE) chosen.length = 1;
  else chosen[side] = Number(value);
  page.chosen = chosen;
  page.version = 0;
  page.request.abort();
}

// ---- showing

function show() {
  const { state } = page;
  byId("source").textContent = `${counted(state.cues)} cues: ${state.source}`;
  showProblem(byId("cues-problem"), state.problem);
  showPanes();
  showList();
  showPrices();
  showDetails();
}

function showProblem(box, problem) {
  const shown = problem ? JSON.stringify(problem) : "";
  if (box.dataset.shown === shown) return;
  box.dataset.shown = shown;
  box.hidden = !problem;
  box.replaceChildren();
  if (!problem) return;
  box.append(make("strong", "", problem.what));
  if (problem.where) box.append(make("span", "where", problem.where));
  if (problem.hint) box.append(make("p", "hint", problem.hint));
  if (problem.excerpt.length) {
    const lines = problem.excerpt.map(([number, text, fault]) =>
      make("span", fault ? "fault" : "", `${String(number).padStart(4)}  ${text}`));
    box.append(make("pre", "", ...lines));
  }
}

function showPanes() {
  const panes = byId("panes");
  const wanted = page.state.panes;
  while (panes.children.length > wanted.length) panes.lastElementChild.remove();
  while (panes.children.length < wanted.length) panes.append(newPane(panes.children.length));
  panes.classList.toggle("two", wanted.length > 1);
  fill(byId("beside"), [[NONE, "no other theme"], ...names()], String(page.chosen[1] ?? NONE));
  wanted.forEach((pane, side) => showPane(panes.children[side], pane, side));
  if (page.fits) fit();
}

function newPane(side) {
  const section = byId("pane").content.firstElementChild.cloneNode(true);
  section.querySelector(".theme span").textContent = side ? "The other theme" : "The theme";
  section.querySelector("select").addEventListener("change", (event) => choose(side, event.target.value));
  section.querySelector(".copy").addEventListener("click", () => copy(side));
  const sheet = section.querySelector(".sheet");
  sheet.addEventListener("pointermove", (event) => point(event, side));
  sheet.addEventListener("pointerleave", unpoint);
  sheet.addEventListener("click", (event) => {
    const box = boxAt(event, side);
    if (box && box[4] >= 0) chooseMemory(idOf(page.state.memories[box[4]]), true);
  });
  section.querySelector(".stage").addEventListener("scroll", (event) => follows(event.target), { passive: true });
  return section;
}

const names = () => page.state.themes.map((name, number) => [String(number), name]);

function fill(select, options, value) {
  const shown = JSON.stringify(options);
  if (select.dataset.shown !== shown) {
    select.dataset.shown = shown;
    select.replaceChildren(...options.map(([key, text]) => {
      const option = make("option", "", text);
      option.value = key;
      return option;
    }));
  }
  select.value = value;
}

function showPane(section, pane, side) {
  const { picture, problem } = pane;
  fill(section.querySelector("select"), names(), String(page.state.chosen[side]));
  showProblem(section.querySelector(".problem"), problem);
  const stage = section.querySelector(".stage");
  stage.setAttribute("aria-label", `The mural in ${pane.theme}`);
  const sheet = section.querySelector(".sheet");
  section.classList.toggle("stale", Boolean(problem && picture));
  section.querySelector(".copy").disabled = !picture;
  section.querySelector(".save").hidden = !picture;
  if (!picture) {
    section.querySelector(".facts").textContent = "";
    sheet.replaceChildren(make("p", "waiting", problem ? "There is no picture yet." : "Drawing ..."));
    sheet.dataset.name = "";
    sheet.style.width = sheet.style.height = "";
    return;
  }
  const [shown, dropped] = picture.counts;
  const left = dropped ? `, ${counted(dropped)} dropped` : "";
  section.querySelector(".facts").textContent =
    `${picture.width} × ${picture.height} px, ${counted(picture.tokens)} tokens, ` +
    `${counted(shown)} shown${left}, ${Math.ceil(picture.bytes / 1024)} KiB` +
    (problem ? " (the last good picture)" : "");
  section.querySelector(".save").href = `picture/${picture.name}`;
  section.querySelector(".save").download = `${pane.theme.replace(/[^\w.-]+/g, "-")}.png`;
  if (sheet.dataset.name !== picture.name) {
    sheet.dataset.name = picture.name;
    swap(sheet, picture, pane.theme);
  }
  size(side);
}

async function swap(sheet, picture, theme) {
  // The old picture stays until the new one is there.
  const image = new Image(picture.width, picture.height);
  image.alt = `The mural in ${theme}; the list has its memories`;
  image.draggable = false;
  image.src = `picture/${picture.name}`;
  try {
    await image.decode();
  } catch {
    return; // a newer one is on its way
  }
  if (sheet.dataset.name !== picture.name) return;
  sheet.replaceChildren(image);
  size([...byId("panes").children].findIndex((section) => section.contains(sheet)));
}

// A CSS pixel may be several of the screen's: at 100% each of the picture's is one of those.
const scale = () => page.zoom / devicePixelRatio;

function size(side) {
  const picture = page.state?.panes[side]?.picture;
  if (!picture) return;
  const sheet = byId("panes").children[side].querySelector(".sheet");
  sheet.style.width = `${picture.width * scale()}px`;
  sheet.style.height = `${picture.height * scale()}px`;
  sheet.classList.toggle("large", page.zoom >= 1);
  showMarks(side);
}

// ---- zoom

function zoom(level, fits = false) {
  const before = page.zoom;
  page.zoom = Math.min(8, Math.max(0.1, level));
  page.fits = fits;
  byId("native").textContent = `${Math.round(page.zoom * 100)}%`;
  byId("native").setAttribute("aria-pressed", String(page.zoom === 1 && !fits));
  byId("fit").setAttribute("aria-pressed", String(fits));
  byId("tooltip").hidden = true;
  document.querySelectorAll(".stage").forEach((stage, side) => {
    // The middle stays in the middle, or the chosen memory comes there.
    const x = (stage.scrollLeft + stage.clientWidth / 2) / before;
    const y = (stage.scrollTop + stage.clientHeight / 2) / before;
    size(side);
    stage.scrollLeft = x * page.zoom - stage.clientWidth / 2;
    stage.scrollTop = y * page.zoom - stage.clientHeight / 2;
    reveal(side);
  });
}

const step = (way) => {
  const levels = way > 0 ? LEVELS : [...LEVELS].reverse();
  zoom(levels.find((level) => (level - page.zoom) * way > 0.01) ?? page.zoom);
};

function fit() {
  const stages = [...document.querySelectorAll(".stage")];
  const ratios = stages.flatMap((stage, side) => {
    const picture = page.state?.panes[side]?.picture;
    return picture ? [(stage.clientWidth * devicePixelRatio) / picture.width] : [];
  });
  if (ratios.length) zoom(Math.min(...ratios), true);
}

function follows(stage) {
  // Two pictures are read side by side: where one goes, the other one goes too.
  const share = (part, whole) => (whole > 0 ? part / whole : 0);
  const x = share(stage.scrollLeft, stage.scrollWidth - stage.clientWidth);
  const y = share(stage.scrollTop, stage.scrollHeight - stage.clientHeight);
  for (const other of document.querySelectorAll(".stage")) {
    if (other === stage || stage !== page.leader) continue;
    other.scrollLeft = x * (other.scrollWidth - other.clientWidth);
    other.scrollTop = y * (other.scrollHeight - other.clientHeight);
  }
}

// ---- pointing

function boxAt(event, side) {
  const picture = page.state.panes[side]?.picture;
  if (!picture) return null;
  const edge = event.currentTarget.getBoundingClientRect();
  const x = (event.clientX - edge.left) / scale();
  const y = (event.clientY - edge.top) / scale();
  return picture.boxes.find(([left, top, width, height]) =>
    x >= left && x < left + width && y >= top && y < top + height) ?? null;
}

function point(event, side) {
  page.leader = event.currentTarget.closest(".stage");
  const box = boxAt(event, side);
  const tooltip = byId("tooltip");
  const under = box ? idAt(box[4]) : null;
  if (page.under !== under) {
    page.under = under;
    page.state.panes.forEach((_, other) => showMarks(other));
  }
  tooltip.hidden = !box;
  if (!box) return;
  const shown = `${page.version} ${box.join()}`;
  if (tooltip.dataset.shown !== shown) {
    tooltip.dataset.shown = shown;
    tooltip.replaceChildren(box[4] < 0 ? make("p", "", box[5]) : described(page.state.memories[box[4]]));
  }
  const room = 14;
  const left = Math.min(event.clientX + room, innerWidth - tooltip.offsetWidth - 8);
  const below = event.clientY + room + tooltip.offsetHeight < innerHeight;
  const top = below ? event.clientY + room : event.clientY - room - tooltip.offsetHeight;
  tooltip.style.left = `${Math.max(8, left)}px`;
  tooltip.style.top = `${Math.max(8, top)}px`;
}

function unpoint() {
  byId("tooltip").hidden = true;
  page.under = null;
  page.state.panes.forEach((_, side) => showMarks(side));
}

function described(memory) {
  const fates = page.state.panes.map((pane) => {
    const where = page.state.panes.length > 1 ? `${pane.theme}: ` : "";
    const fate = fateIn(pane, idOf(memory));
    return make("li", fate.dropped ? "dropped" : "", where + fate.text);
  });
  return make("div", "memory",
    make("p", "name", `Memory ${memory.id}, ${memory.category}, importance ${memory.importance}`),
    make("p", "cue", memory.cue),
    memory.content === null ? null : make("p", "content", memory.content),
    make("ul", "", ...fates));
}

const idAt = (number) => (number < 0 ? null : idOf(page.state.memories[number]));

function fateIn(pane, id) {
  if (!pane.picture) return { dropped: false, text: "not drawn yet" };
  const entry = pane.picture.dropped.find(([number]) => idAt(number) === id);
  if (entry) return { dropped: true, text: `dropped: ${entry[1]}` };
  return pane.picture.shown.some((number) => idAt(number) === id)
    ? { dropped: false, text: "shown whole" } : { dropped: false, text: "not drawn yet" };
}

// ---- the chosen memory

function chosenNumber() {
  return page.state.memories.findIndex((memory) => idOf(memory) === page.memory);
}

function chooseMemory(id, inList) {
  page.memory = id;
  byId("tooltip").hidden = true;
  showDetails();
  for (const item of byId("list").children) {
    const chosen = item.dataset.memory === id;
    item.setAttribute("aria-selected", String(chosen));
    if (chosen) byId("list").setAttribute("aria-activedescendant", item.id);
    if (!chosen) continue;
    const box = byId("list");
    if (item.offsetTop < box.scrollTop + box.offsetTop || inList) {
      box.scrollTop = item.offsetTop - box.offsetTop - box.clientHeight / 2;
    } else if (item.offsetTop + item.offsetHeight > box.scrollTop + box.offsetTop + box.clientHeight) {
      box.scrollTop = item.offsetTop + item.offsetHeight - box.offsetTop - box.clientHeight;
    }
  }
  if (!inList) page.leader = null; // each pane goes to its own mark
  page.state.panes.forEach((_, side) => {
    showMarks(side);
    if (!inList) reveal(side);
  });
}

function showDetails() {
  const details = byId("details");
  const number = chosenNumber();
  if (number < 0) {
    details.replaceChildren(make("p", "soft", "Point at a line of the mural, or choose a memory in the list."));
    return;
  }
  details.replaceChildren(described(page.state.memories[number]));
}

function showMarks(side) {
  const sheet = byId("panes").children[side]?.querySelector(".sheet");
  const picture = page.state.panes[side]?.picture;
  if (!sheet || !picture) return;
  for (const mark of sheet.querySelectorAll(".mark")) mark.remove();
  for (const [id, name] of [[page.memory, "mark"], [page.under, "mark under"]]) {
    if (id === null) continue;
    for (const [left, top, width, height, whose] of picture.boxes) {
      if (idAt(whose) !== id) continue;
      const mark = make("div", name);
      mark.style.left = `${left * scale()}px`;
      mark.style.top = `${top * scale()}px`;
      mark.style.width = `${width * scale()}px`;
      mark.style.height = `${height * scale()}px`;
      sheet.append(mark);
    }
  }
}

function reveal(side) {
  const stage = byId("panes").children[side]?.querySelector(".stage");
  const mark = stage?.querySelector(".mark:not(.under)");
  if (!mark) return;
  stage.scrollLeft = mark.offsetLeft + mark.offsetWidth / 2 - stage.clientWidth / 2;
  stage.scrollTop = mark.offsetTop + mark.offsetHeight / 2 - stage.clientHeight / 2;
}

// ---- the list

function showList() {
  const { memories, panes, cues } = page.state;
  const wanted = byId("filter").value.toLowerCase();
  const only = byId("only-dropped").checked;
  const dropped = new Set(panes[0].picture?.dropped.map(([number]) => number));
  const items = [];
  memories.forEach((memory, number) => {
    const text = `${memory.id} ${memory.category} ${memory.cue} ${memory.content ?? ""}`;
    if (memory.old || (only && !dropped.has(number)) || !text.toLowerCase().includes(wanted)) return;
    const item = make("li", dropped.has(number) ? "dropped" : "",
      make("span", "rank", String(memory.importance)), make("span", "cue", memory.cue));
    item.id = `memory-${number}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-label", `${memory.cue}, importance ${memory.importance}` +
      (dropped.has(number) ? ", dropped" : ""));
    item.setAttribute("aria-selected", String(idOf(memory) === page.memory));
    item.dataset.memory = idOf(memory);
    items.push(item);
  });
  byId("list").replaceChildren(...items);
  const chosen = items.find((item) => item.dataset.memory === page.memory);
  byId("list").setAttribute("aria-activedescendant", chosen?.id ?? "");
  byId("list-title").textContent = `Memories: ${counted(items.length)} of ${counted(cues)}`;
  const { listed } = page.state;
  byId("unlisted").textContent = listed < cues
    ? `${counted(cues - listed)} more of low importance are not listed.` : "";
}

function listKey(event) {
  const items = [...byId("list").children];
  const at = items.findIndex((item) => item.dataset.memory === page.memory);
  const to = {
    ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, Home: 0, End: items.length - 1,
    PageDown: at + 10, PageUp: at - 10,
  }[event.key];
  if (to === undefined || !items.length) return;
  event.preventDefault();
  chooseMemory(items[Math.min(items.length - 1, Math.max(0, to))].dataset.memory, false);
}

// ---- prices

function showPrices() {
  const { panes, as_text: asText } = page.state;
  const pictures = panes.map((pane) => pane.picture);
  const whole = asText.memories ?? asText.cues;
  const head = make("thead", "", make("tr", "", make("th", ""), ...panes.map((pane) => make("th", "", called(pane.theme)))));
  const body = make("tbody");
  const row = (name, values) => body.append(make("tr", "", make("th", "", name), ...values));
  const families = Object.keys(pictures.find(Boolean)?.prices ?? {});
  for (const family of families) {
    row(family, pictures.map((picture) => {
      if (!picture) return make("td", "", "");
      const price = picture.prices[family];
      const share = whole ? ` ${Math.round((100 * price) / whole)}%` : "";
      return make("td", whole && price >= whole ? "dear" : "", counted(price), make("small", "", share));
    }));
  }
  const text = (name, price) => row(name, pictures.map((_, side) =>
    make("td", "", side ? "" : counted(price), make("small", "", ""))));
  text("the same cues as text", asText.cues);
  if (asText.memories !== null) text("the memories as text", asText.memories);
  byId("prices").replaceChildren(head, body);
  const what = asText.memories === null ? "the same cues as text" : "the memories in full, as text";
  byId("share").textContent = whole ? `Shares are of ${what}: red ones cost more than that.` : "";
}

function short(theme) {
  const parts = theme.split("/").filter(Boolean);
  return (parts.at(-1) === "theme.toml" ? parts.at(-2) : parts.at(-1)) ?? theme;
}

function called(theme) {
  const alike = page.state.panes.filter((pane) => short(pane.theme) === short(theme));
  return alike.length > 1 ? theme : short(theme);
}

// ---- copying

async function copy(side) {
  const pane = page.state.panes[side];
  if (!pane?.picture) return;
  const bytes = fetch(`picture/${pane.picture.name}`).then((answer) => {
    if (!answer.ok) throw new Error("the picture has just changed");
    return answer.blob();
  });
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": bytes })]);
    say(`The PNG of ${short(pane.theme)} is on the clipboard.`);
  } catch (error) {
    say(`The browser can't copy it (${error.message}): Save has the file.`);
  }
}

// ---- keys

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input[type=search], select");
  if (event.key === "Escape") {
    byId("tooltip").hidden = true;
    page.memory = null;
    if (page.state) chooseMemory(null, true);
    if (typing) typing.blur();
    return;
  }
  if (typing) return;
  const does = {
    "+": () => step(1), "=": () => step(1), "-": () => step(-1), 0: () => zoom(1), f: fit,
    "/": () => byId("filter").focus(), c: () => copy(0),
  }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}

byId("beside").addEventListener("change", (event) => choose(1, event.target.value));
byId("in").addEventListener("click", () => step(1));
byId("out").addEventListener("click", () => step(-1));
byId("native").addEventListener("click", () => zoom(1));
byId("fit").addEventListener("click", fit);
byId("filter").addEventListener("input", showList);
byId("only-dropped").addEventListener("change", showList);
byId("list").addEventListener("keydown", listKey);
byId("list").addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (item) chooseMemory(item.dataset.memory, false);
});
byId("panes").addEventListener("pointerover", (event) => {
  page.leader = event.target.closest(".stage");
});
byId("panes").addEventListener("focusin", (event) => {
  page.leader = event.target.closest(".stage");
});
document.addEventListener("keydown", key);
addEventListener("resize", () => { page.fits ? fit() : zoom(page.zoom); });
zoom(1);
follow();

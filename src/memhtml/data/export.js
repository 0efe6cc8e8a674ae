
"use strict";
(() => {
  // What a memory's article may show, and of each element the attributes that are only read.
  const SHOWN = new Set(("mark time dl dt dd data cite q dfn figure figcaption details summary aside section abbr " +
    "pre code kbd samp var table caption thead tbody tr th td p ul ol li a strong em address div span article").split(" "));
  const KEPT = { time: ["datetime"], code: ["data-lang"], data: ["value"], abbr: ["title"],
    th: ["colspan", "rowspan"], td: ["colspan", "rowspan"], ol: ["start"] };
  const STEP = 50;

  const $ = (id) => document.getElementById(id);
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
  // The same with each character in its place, to mark what was found.
  const even = (text) => [...text].map((char) => {
    const folded = fold(char);
    return folded.length === char.length ? folded : char;
  }).join("");
  const memories = [];
  for (const line of $("memhtml-data").textContent.split("\n")) {
    if (!line.trim()) continue;
    const value = JSON.parse(line);
    if (value.type !== "memory") continue;
    value.fields = [[value.title, 8], [[...value.tags, ...value.entities].join(" "), 6], [value.claim, 4],
      [value.text, 1], [value.path, 1]].map(([text, weight]) => [fold(text || ""), weight]);
    memories.push(value);
  }
  const byPath = new Map(memories.map((memory) => [memory.path, memory]));

  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  const wordsOf = (query) => fold(query).match(/[\p{L}\p{N}][\p{L}\p{N}_.+#'-]*/gu) || [];

  const isLetter = (char) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

  // Every word must stand somewhere; at the start of a word it counts more, and a whole word most.
  const score = (memory, words) => {
    let total = 0;
    for (const word of words) {
      let best = 0;
      for (const [text, weight] of memory.fields) {
        for (let at = text.indexOf(word), tries = 0; at >= 0 && tries < 8; at = text.indexOf(word, at + 1), tries++) {
          const starts = !isLetter(text[at - 1]);
          const whole = starts && !isLetter(text[at + word.length]);
          best = Math.max(best, weight * (whole ? 3 : starts ? 2 : 1));
        }
      }
      if (!best) return 0;
      total += best;
    }
    return total;
  };

  const search = () => {
    const words = wordsOf($("words").value);
    const kind = $("kind").value, tag = $("tag").value, archived = $("archived").checked;
    const found = [];
    for (const memory of memories) {
      if (memory.archived && !archived) continue;
      if (kind && memory.memoryType !== kind) continue;
      if (tag && !memory.tags.includes(tag)) continue;
      const points = words.length ? score(memory, words) : 1;
      if (points) found.push([points, memory]);
    }
    found.sort(([a, x], [b, y]) => b - a || (y.updatedAt || "").localeCompare(x.updatedAt || "") ||
      x.path.localeCompare(y.path));
    return [found.map(([, memory]) => memory), words];
  };

  const marked = (text, words) => {
    const element = make("p");
    const plain = even(text);
    const spans = [];
    for (const word of words) {
      for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length)) spans.push([at, at + word.length]);
    }
    spans.sort((a, b) => a[0] - b[0]);
    let done = 0;
    for (const [start, end] of spans) {
      if (start < done) continue;
      element.append(text.slice(done, start), make("mark", text.slice(start, end)));
      done = end;
    }
    element.append(text.slice(done));
    return element;
  };

  const around = (memory, words) => {
    const plain = even(memory.text);
    const places = words.map((word) => plain.indexOf(word)).filter((at) => at >= 0);
    if (!places.length) return "";
    const at = Math.min(...places);
    const start = Math.max(0, at - 60);
    return (start ? "…" : "") + memory.text.slice(start, start + 220) + (start + 220 < memory.text.length ? "…" : "");
  };

  const hrefOf = (path) => "#/" + encodeURIComponent(path);

  const item = (memory, words) => {
    const line = make("li");
    const link = make("a", memory.title || memory.path);
    link.href = hrefOf(memory.path);
    line.append(link, " ", make("span", [memory.memoryType, (memory.updatedAt || "").slice(0, 10),
      memory.archived ? "archived" : ""].filter(Boolean).join(" · "), "soft"));
    line.append(marked(memory.claim, words));
    const claim = fold(memory.claim);
    if (words.some((word) => !claim.includes(word))) {
      const text = around(memory, words);
      if (text) { const more = marked(text, words); more.className = "soft"; line.append(more); }
    }
    if (memory === shown()) line.className = "shown";
    return line;
  };

  let limit = STEP;
  const list = () => {
    const [found, words] = search();
    $("hits").replaceChildren(...found.slice(0, limit).map((memory) => item(memory, words)));
    if (found.length > limit) {
      const more = make("button", "Show more");
      more.addEventListener("click", () => { limit += STEP; list(); });
      $("hits").append(more);
    }
    $("count").textContent = found.length + (found.length === 1 ? " memory" : " memories") +
      " of " + memories.length;
  };

  // An article is read in a document of its own, where nothing runs or loads, and what is shown is
  // built anew from names and texts that are known.
  const copy = (from, into) => {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) into.append(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      const name = node.localName;
      if (name === "script" || name === "style" || name === "template") continue;
      if (!SHOWN.has(name) || node.namespaceURI !== "http://www.w3.org/1999/xhtml") { copy(node, into); continue; }
      const element = make(name);
      for (const key of KEPT[name] || []) {
        const value = node.getAttribute(key);
        if (value !== null) element.setAttribute(key, value);
      }
      if (name === "a") aim(element, node.getAttribute("href") || "");
      if (name === "q" && node.getAttribute("cite")) element.title = node.getAttribute("cite");
      copy(node, element);
      into.append(element);
    }
  };

  const aim = (link, href) => {
    if (/^(https?:\/\/|mailto:)/i.test(href)) {
      link.href = href;
      link.rel = "noopener noreferrer";
      link.target = "_blank";
    } else if (byPath.has(href.replace(/^\//, ""))) {
      link.href = hrefOf(href.replace(/^\//, ""));
    }
  };

  const bytes = (text) => new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)));

  const shown = () => {
    const match = /^#\/(.+)$/.exec(location.hash);
    try { return match ? byPath.get(decodeURIComponent(match[1])) : undefined; } catch { return undefined; }
  };

  const facts = (memory) => {
    const list = make("dl");
    const rows = [["path", memory.path], ["type", memory.memoryType], ["created", memory.createdAt],
      ["updated", memory.updatedAt], ["tags", memory.tags.join(", ")], ["about", memory.entities.join(", ")]];
    for (const [name, value] of rows) if (value) list.append(make("dt", name), make("dd", value));
    for (const { rel, href } of memory.links) {
      const place = make("dd"), path = href.replace(/^\//, ""), other = byPath.get(path);
      const link = make(other ? "a" : "code", other ? other.title || path : path);
      if (other) link.href = hrefOf(path);
      place.append(link);
      list.append(make("dt", rel.replace(/^memhtml-/, "").replaceAll("-", " ")), place);
    }
    return list;
  };

  const show = () => {
    const memory = shown();
    $("page").hidden = !memory;
    document.querySelector("main").classList.toggle("open", Boolean(memory));
    if (!memory) return;
    const parsed = new DOMParser().parseFromString(memory.html || bytes(memory.base64), "text/html");
    const article = make("article");
    copy(parsed.querySelector("article") || parsed.body, article);
    $("page").replaceChildren(make("h2", memory.title || memory.path), article, make("hr"), facts(memory));
    $("page").scrollTop = 0;
  };

  const fill = (id, values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    for (const value of [...counts.keys()].sort()) {
      const option = make("option", `${value} (${counts.get(value)})`);
      option.value = value;
      $(id).append(option);
    }
  };

  fill("kind", memories.map((memory) => memory.memoryType).filter(Boolean));
  fill("tag", memories.flatMap((memory) => memory.tags));
  const start = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
  $("words").value = start.get("q") || "";
  for (const id of ["words", "kind", "tag", "archived"]) {
    $(id).addEventListener("input", () => { limit = STEP; list(); });
  }
  addEventListener("hashchange", () => { show(); list(); });
  show();
  list();
})();

// Search without a server: the index is a script, so that it loads from a disk as well as over http. And what can be
// scrolled sideways can be reached by keyboard.
"use strict";

(() => {
  const base = document.currentScript.dataset.base;
  const form = document.querySelector(".search");
  const field = form.querySelector("input");
  const panel = form.querySelector(".found");
  const count = panel.querySelector(".count");
  const list = panel.querySelector("ol");
  const SHOWN = 12;
  const INSIDE = /^(decisions\/|architecture|bibliography)/;
  const AROUND = 70; // characters on either side of a find
  let places = null;

  function load() {
    if (load.started) return;
    load.started = true;
    const script = document.createElement("script");
    script.src = `${base}/search/index.js`;
    script.onload = () => {
      places = window.ringtruePages.map((place) => ({
        ...place,
        heading: place.title.toLowerCase(),
        words: place.text.toLowerCase(),
      }));
      show();
    };
    document.head.append(script);
  }

  const beginning = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}`, "gu");

  // Every word must begin a word there. In a title it counts most, more so as a whole; each time in the text it counts a
  // little. Pages for those who work on ringtrue come after those for those who work with it.
  function worth(place, words) {
    let sum = 0;
    for (const word of words) {
      const inTitle = place.heading.search(beginning(word)) >= 0;
      const times = [...place.words.matchAll(beginning(word))].length;
      if (!inTitle && !times) return 0;
      sum += (inTitle ? 10 : 0) + Math.min(times, 5);
    }
    return (sum + (place.heading === words.join(" ") ? 50 : 0)) / (INSIDE.test(place.location) ? 2 : 1);
  }

  function excerpt(place, words) {
    const at = Math.max(0, place.words.search(beginning(words[0])));
    const from = Math.max(0, at - AROUND);
    const text = place.text.slice(from, at + AROUND * 2);
    return (from ? "… " : "") + text + (from + text.length < place.text.length ? " …" : "");
  }

  function link(place, words) {
    const anchor = document.createElement("a");
    const title = document.createElement("b");
    const text = document.createElement("small");
    anchor.href = `${base}/${place.location}`;
    title.textContent = place.title === place.page ? place.title : `${place.page}: ${place.title}`;
    text.textContent = excerpt(place, words);
    anchor.append(title, text);
    const item = document.createElement("li");
    item.append(anchor);
    return item;
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    panel.hidden = !words.length || !places;
    if (panel.hidden) return;
    const found = places.map((place) => [worth(place, words), place]).filter(([sum]) => sum);
    found.sort((one, other) => other[0] - one[0]);
    count.textContent = found.length === 1 ? "1 place" : `${found.length} places`;
    list.replaceChildren(...found.slice(0, SHOWN).map(([, place]) => link(place, words)));
  }

  form.hidden = false;
  field.addEventListener("focus", load);
  field.addEventListener("input", () => { load(); show(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  list.addEventListener("click", () => { panel.hidden = true; });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) panel.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && form.contains(document.activeElement)) {
      panel.hidden = true;
      field.focus();
    } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && form.contains(document.activeElement)) {
      const stops = [field, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
    }
  });

  const wide = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  document.querySelectorAll("pre, .scroll").forEach((block) => wide.observe(block));

  // The list of pages is longer than many screens: begin where the reader is. (Its own scroll; the page stays.)
  const here = document.querySelector(".pages [aria-current]");
  const pages = document.querySelector(".pages");
  if (here) pages.scrollTop = here.offsetTop - pages.offsetTop - pages.clientHeight / 2;
})();

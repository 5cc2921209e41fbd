// The judge's screen works without this. With it: single keys, time on the page, and answers that outlive a fault.
"use strict";
(() => {
  const page = document.getElementById("judging");
  if (!page) return;
  const message = document.getElementById("message");
  const say = (text) => { if (message) message.textContent = text; };
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  // What this browser remembers; a browser that refuses to is no fault.
  const recall = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => {
    try { value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value); } catch { /* refused */ }
  };

  // Time with the page in view, and time away from it.
  const spent = { here: 0, away: 0 };
  let since = performance.now();
  let here = document.visibilityState === "visible" && document.hasFocus();
  const turn = (next = document.visibilityState === "visible" && document.hasFocus()) => {
    const now = performance.now();
    spent[here ? "here" : "away"] += now - since;
    since = now;
    here = next;
  };
  document.addEventListener("visibilitychange", () => turn());
  window.addEventListener("focus", () => turn());
  window.addEventListener("blur", () => turn(false));

  // An answer is kept in the browser until the server says that it has it: one entry for each question and account, so
  // that tabs do not touch each other's, and nobody sends what another account left in a shared browser.
  const mine = page.dataset.judge ? `ringtrue.pending.${page.dataset.judge}.` : null;
  const WAITS = [500, 1000, 2000, 4000, 8000, 15000];
  const REFUSED = [404, 409, 410, 422]; // as it is, it will never be taken
  const LOGIN = [401, 403];

  // What our server says in JSON; a hotel's network or a proxy says other things, whatever their status.
  const isOurs = (reply) => (reply.headers.get("content-type") || "").startsWith("application/json");

  // Where the server sends a judge whose answer it has; null while it does not say so.
  const acknowledged = async (reply) => {
    if (!reply.ok || !isOurs(reply)) return null;
    try {
      const { next } = await reply.json();
      return typeof next === "string" && next.startsWith("/") ? next : null;
    } catch { return null; }
  };

  // Send until the server takes it (`next`), refuses it for good or wants a login (`status`); null when not `wanted`.
  const deliver = async (body, wanted = () => true) => {
    for (let turns = 0; wanted(); turns += 1) {
      try {
        const reply = await fetch(page.dataset.answer, {
          method: "POST",
          body: new URLSearchParams(body),
          headers: { Accept: "application/json" },
        });
        const [next, { status }] = [await acknowledged(reply), reply];
        if (next || LOGIN.includes(status) || (isOurs(reply) && REFUSED.includes(status))) return { next, status };
      } catch { /* no connection: the same as a server that is away */ }
      say("Not saved yet: the server does not answer as it should. Your answer is kept in this browser and is sent again by itself.");
      await pause(WAITS[Math.min(turns, WAITS.length - 1)]);
    }
    return null;
  };

  // Nobody has read a question that was painted a moment ago: what is pressed then was meant for the one before.
  const LEAST = 250; // milliseconds in view
  const isUnseen = () => "assignment" in page.dataset && !("seen" in page.dataset);
  requestAnimationFrame(() => setTimeout(() => { page.dataset.seen = ""; }, LEAST)); // no frame comes while hidden

  let busy = false;
  const freeze = () => {
    busy = true;
    page.setAttribute("aria-busy", "true");
  };

  const send = async (form, button) => {
    freeze();
    turn(here);
    for (const [name, value] of [["seconds", spent.here], ["away", spent.away]]) {
      const field = form.elements.namedItem(name);
      if (field && !("again" in form.dataset)) field.value = (value / 1000).toFixed(2);
    }
    const body = [...new FormData(form)];
    if (button && button.name) body.push([button.name, button.value]);
    const entry = mine && mine + form.elements.namedItem("assignment").value;
    if (entry) keep(entry, JSON.stringify(body));
    const { next, status } = await deliver(body);
    if (entry && !LOGIN.includes(status)) keep(entry, null);
    if (next) {
      location.assign(next);
      return;
    }
    // The server has something to say to the judge, such as to log in again: the browser shows its page.
    if (button && button.name) {
      const field = document.createElement("input");
      [field.type, field.name, field.value] = ["hidden", button.name, button.value];
      form.append(field);
    }
    form.submit();
  };

  document.addEventListener("submit", (event) => {
    if (busy || isUnseen()) {
      event.preventDefault();
    } else if ("sent" in event.target.dataset) {
      event.preventDefault();
      send(event.target, event.submitter);
    } else {
      freeze();
    }
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // What an earlier page could not deliver.
  const resend = async (entry) => {
    const kept = recall(entry);
    let body;
    try {
      body = JSON.parse(kept).map(([name, value]) => [name, name === "csrf" ? page.dataset.csrf : value]);
    } catch { keep(entry, null); return; }
    const { next, status } = (await deliver(body, () => recall(entry) === kept)) || {};
    if (!status && !busy) say(""); // another tab has delivered it
    if (!status || status === 401) return;
    if (status !== 403 && recall(entry) === kept) keep(entry, null);
    if (next && entry === mine + page.dataset.assignment && !busy) {
      location.reload();
    } else if (next) {
      say("An answer that was still waiting in this browser is saved now.");
    } else {
      say(status === 403
        ? "An answer still waits in this browser, as the server does not take it now. Load this page again, or ask whoever invited you."
        : "An answer that was still waiting in this browser was not taken: its question was answered meanwhile, or is gone.");
    }
  };

  // A page on which a judge waits asks again by itself.
  const later = document.querySelector("form[data-again-after]");
  if (later) pause(1000 * Number(later.dataset.againAfter)).then(() => { if (!busy) later.requestSubmit(); });

  const waiting = () => {
    try { return mine ? Object.keys(localStorage).filter((name) => name.startsWith(mine)) : []; } catch { return []; }
  };

  const again = document.querySelector("form[data-again]");
  if (again) {
    pause(WAITS[0]).then(() => { if (!busy) send(again, null); });
  } else {
    waiting().forEach(resend);
  }

  // Single keys, which a judge can switch off: WCAG 2.1.4.
  const keys = document.getElementById("keys");
  const box = document.getElementById("use-keys");
  if (keys && box) {
    keys.hidden = false;
    box.checked = recall("ringtrue.keys") !== "off";
    const show = () => page.classList.toggle("no-keys", !box.checked);
    box.addEventListener("change", () => { keep("ringtrue.keys", box.checked ? null : "off"); show(); });
    show();
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
      if (!box.checked || busy || isUnseen() || typing || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const target = [...page.querySelectorAll("[data-keys]")].find((one) => one.dataset.keys.split(" ").includes(name));
      if (!target || target.disabled) return;
      event.preventDefault();
      target.click();
      if (target.tagName === "SUMMARY" && target.parentElement.open) {
        const first = target.parentElement.querySelector(".inside button, .inside input, .inside[tabindex]");
        if (first) first.focus();
      }
    });
  }
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && page.querySelector("details.panel[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });

  // A narrative that takes more than a third of the window is folded, unless this judge likes it open.
  const narrative = page.querySelector("details.narrative");
  if (narrative) {
    const liked = recall("ringtrue.narrative");
    narrative.open = liked === null ? narrative.offsetHeight <= window.innerHeight / 3 : liked === "open";
    narrative.querySelector("summary").addEventListener("click", () => {
      keep("ringtrue.narrative", narrative.open ? "folded" : "open");
    });
  }

  // The time that is left, told aloud only near its end.
  const left = document.getElementById("left");
  if (left) {
    const end = performance.now() + 1000 * Number(left.dataset.seconds);
    let before = Infinity;
    const tick = () => {
      const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      left.textContent = seconds >= 60 ? `${Math.floor(seconds / 60)} min left` : seconds ? `${seconds} s left` : "Time is up";
      left.classList.toggle("soon", seconds < 120);
      if (seconds <= 120 && before > 120 && before !== Infinity) say("Two minutes are left for this task.");
      if (!seconds) say("The time of this task is up. Answers sent now are kept, but may not count.");
      else setTimeout(tick, seconds > 120 ? 5000 : 1000);
      before = seconds;
    };
    tick();
  }
})();

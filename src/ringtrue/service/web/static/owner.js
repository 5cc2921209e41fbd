// Two comforts for owners; every page works without them.
"use strict";

// Copy a link to the clipboard.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// Numbers that change while somebody looks at them: fetched again while the page is visible.
const live = document.querySelector("[data-live]");
if (live) {
  const PAUSE = 10_000; // milliseconds; longer where the server is slow
  const again = async () => {
    const began = performance.now();
    if (!document.hidden && !live.contains(document.activeElement)) {
      try {
        const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
        const page = answer.ok && !answer.redirected
          ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
        const fresh = page && page.querySelector("[data-live]");
        if (fresh) {
          live.replaceChildren(...fresh.childNodes);
          document.getElementById("as-of").textContent = page.getElementById("as-of").textContent;
        }
      } catch { /* the server is away: what is shown stays, and the time beside it says of when it is */ }
    }
    setTimeout(again, Math.max(PAUSE, 20 * (performance.now() - began)));
  };
  setTimeout(again, PAUSE);
}

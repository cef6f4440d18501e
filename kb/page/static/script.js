// Results as you type, answers as they come, citations beside the answer, keys. The page is complete without it.
"use strict";
(function () {
  const one = (selector, under) => (under || document).querySelector(selector);
  const all = (selector, under) => [...(under || document).querySelectorAll(selector)];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const TYPING_MS = 140;

  async function fetchPart(address, options) {
    const [path, anchor] = address.split("#");
    const found = await fetch(path + (path.includes("?") ? "&" : "?") + "part=1", options);
    const text = await found.text();
    if (found.ok) return text;
    const said = new DOMParser().parseFromString(text, "text/html");
    return (one("main", said) || said.body).innerHTML;
  }

  // ---- what is cited is scrolled to

  function reveal(under) {
    const spot = one("#cited", under) || one(".cited, .holds-cited", under);
    if (spot) spot.scrollIntoView({ block: spot.offsetHeight > innerHeight / 2 ? "start" : "center", behavior: "auto" });
  }
  if (location.hash === "#cited") {
    reveal();
    all("img.page").filter((image) => image.loading !== "lazy").forEach((image) => image.addEventListener("load", () => reveal()));
  }

  all(".wide > svg.around").forEach((picture) => { const box = picture.parentElement; box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2; });

  // ---- results as you type

  const search = one("form#search");
  if (search) {
    const box = one("#q"), results = one("#results"), count = one("#count");
    let waiting = 0, running = null;
    const fold = () => { // a phone shows the results first
      const facets = one(".facets", results);
      if (facets && matchMedia("(max-width: 44rem)").matches && !one("input:checked", facets)) facets.open = false;
    };
    fold();
    const say = () => { const found = one(".found", results); count.textContent = found ? found.dataset.said : ""; };
    const show = async () => {
      if (running) running.abort();
      running = new AbortController();
      const query = new URLSearchParams([...new FormData(search)].filter(([, value]) => value.trim() !== ""));
      const address = "/" + (query.size ? "?" + query : "");
      try {
        const focused = document.activeElement && document.activeElement.id;
        const open = one(".facets", results) && one(".facets", results).open;
        results.innerHTML = await fetchPart(address, { signal: running.signal });
        const facets = one(".facets", results);
        if (facets && open !== null) facets.open = open;
        else fold();
        if (focused && focused !== "q") { const again = document.getElementById(focused); if (again) again.focus(); }
        history.replaceState(null, "", address);
        document.title = (query.get("q") || "Search") + " · kb";
        at = -1;
        say();
      } catch (error) {
        if (error.name !== "AbortError") count.textContent = "The server does not answer.";
      }
    };
    box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, TYPING_MS); });
    results.addEventListener("change", show);
    search.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); show(); });
  }

  // ---- j and k go from one result to the next

  let at = -1;
  function step(by) {
    const stops = all(".stop").filter((stop) => stop.offsetParent !== null || stop.tagName === "TR");
    if (!stops.length) return;
    at = Math.min(Math.max(at + by, 0), stops.length - 1);
    all(".stop.at").forEach((stop) => stop.classList.remove("at"));
    const stop = stops[at], link = one("a[href]", stop);
    stop.classList.add("at");
    const target = stop.matches("section, article") ? stop : link || stop;
    target.focus({ preventScroll: true });
    stop.scrollIntoView({ block: stop.offsetHeight > innerHeight / 2 ? "start" : "nearest", behavior: calm ? "auto" : "smooth" });
  }

  // ---- citations open beside the answer

  const beside = one("#beside"), frame = one(".frame");
  let opener = null;
  async function openBeside(link) {
    opener = link;
    beside.innerHTML = await fetchPart(link.getAttribute("href"));
    const close = document.createElement("button");
    close.type = "button"; close.className = "quiet close"; close.textContent = "Close";
    close.addEventListener("click", closeBeside);
    beside.prepend(close);
    beside.hidden = false; frame.classList.add("open");
    offerCopies(beside);
    beside.focus({ preventScroll: true });
    const spot = one("#cited", beside) || one(".cited", beside);
    beside.scrollTop = spot ? spot.getBoundingClientRect().top - beside.getBoundingClientRect().top - beside.clientHeight / 3 : 0;
  }
  function closeBeside() {
    beside.hidden = true; beside.textContent = ""; frame.classList.remove("open");
    if (opener) opener.focus();
    opener = null;
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-beside]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    openBeside(link);
  });

  // ---- a citation to copy

  function offerCopies(under) {
    if (!navigator.clipboard) return;
    all("button.copy", under).forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.closest("[data-place]").dataset.place);
        button.textContent = "Copied";
      });
    });
  }
  offerCopies();

  // ---- answers as they come

  const ask = one("form#ask");
  if (ask) {
    const state = one("#asking"), writing = one("#writing"), answer = one("#answer"), stop = one("#stop");
    let running = null;
    stop.addEventListener("click", () => running && running.abort());
    one("#question").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); ask.requestSubmit(); }
    });
    ask.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (running) return;
      running = new AbortController();
      const given = { question: ask.elements.question.value, session: ask.elements.session.value.trim() || null };
      state.textContent = "Searching the documents…";
      writing.textContent = ""; answer.textContent = ""; writing.hidden = true; stop.hidden = false;
      try {
        await listen(given, running.signal, {
          retrieval: (step) => { const n = step.hits.length; state.textContent = `Reading ${n} ${n === 1 ? "passage" : "passages"}…`; },
          token: (step) => { writing.hidden = false; writing.textContent += step.text; },
          result: async (done) => {
            answer.innerHTML = await fetchPart("/answers/" + encodeURIComponent(done.trace_id));
            writing.hidden = true; writing.textContent = "";
            state.textContent = done.grounded ? "The answer is there." : "kb has replied.";
            const shown = one(".answer", answer);
            if (shown) shown.focus({ preventScroll: true });
          },
          error: (error) => { state.textContent = error.fix ? `${error.message}. To mend it: ${error.fix}` : error.message; },
        });
      } catch (error) {
        state.textContent = error.name === "AbortError" ? "Stopped." : "The server does not answer.";
      }
      running = null; stop.hidden = true;
    });
  }
  async function listen(given, signal, hear) {
    const body = JSON.stringify(given);
    const headers = { accept: "text/event-stream", "content-type": "application/json" };
    const response = await fetch("/api/ask", { method: "POST", body, headers, signal });
    if (!response.ok) { hear.error(await response.json()); return; }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let held = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      held += value;
      const events = held.split("\n\n");
      held = events.pop();
      for (const event of events) {
        const name = /^event: (.*)$/m.exec(event), said = /^data: (.*)$/m.exec(event);
        if (name && said && hear[name[1]]) await hear[name[1]](JSON.parse(said[1]));
      }
    }
  }

  // ---- keys

  const keys = one("#keys");
  one("#show-keys").addEventListener("click", () => keys.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape") {
      event.preventDefault(); // a search box would be emptied
      if (!beside.hidden) closeBeside();
      else if (typing) event.target.blur();
      return;
    }
    if (typing) {
      if (event.key === "ArrowDown" && event.target.id === "q") { event.preventDefault(); step(1); }
      return;
    }
    const box = one("#q") || one("#question");
    const act = {
      "/": () => (box ? (box.focus(), box.select()) : location.assign("/")),
      j: () => step(1),
      k: () => step(-1),
      a: () => location.assign("/ask"),
      "?": () => keys.showModal(),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
})();

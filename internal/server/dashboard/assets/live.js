"use strict";
// Keeps the page up to date. The server sends a message on a stream when the page changed;
// the script then loads the page again and copies the differences, so that focus, selection
// and typed text stay. While the page is hidden there is no connection.
(() => {
  // One box checks all tasks of the list. Without the script, the style hides it.
  document.documentElement.classList.add("script");
  document.addEventListener("change", (e) => {
    if (e.target.id !== "check-all") return;
    for (const box of document.querySelectorAll('input[type="checkbox"][name="task"]')) box.checked = e.target.checked;
  });

  const main = document.querySelector("main[data-live]");
  const state = document.getElementById("live");
  const spoken = document.getElementById("spoken");
  if (!main || !window.EventSource) return;

  const minWait = 1000, maxWait = 30000, minInterval = 700, checkEvery = 30000, announceEvery = 15000;
  let stream = null, retry = 0, wait = minWait, fetching = false, again = false, last = 0, announced = 0;

  const showState = (text, good) => {
    if (state.textContent !== text) state.textContent = text;
    state.classList.toggle("on", good);
  };

  // sync changes the node "to" into a copy of the node "from".
  const sync = (to, from) => {
    if (to.nodeType !== from.nodeType || to.nodeName !== from.nodeName || (to.id || "") !== (from.id || "")) {
      to.replaceWith(document.importNode(from, true));
      return;
    }
    if (to.nodeType === Node.TEXT_NODE) {
      if (to.data !== from.data) to.data = from.data;
      return;
    }
    if (to.nodeType !== Node.ELEMENT_NODE) return;
    for (const a of [...to.attributes]) {
      if (!from.hasAttribute(a.name) && a.name !== "open") to.removeAttribute(a.name);
    }
    for (const a of from.attributes) {
      if (to.getAttribute(a.name) !== a.value && a.name !== "open") to.setAttribute(a.name, a.value);
    }
    const wanted = [...from.childNodes];
    for (let i = 0; i < wanted.length; i++) {
      let here = to.childNodes[i];
      const id = wanted[i].id;
      // Move a row that has another place now, and keep its element.
      if (id && (!here || here.id !== id)) {
        const moved = [...to.children].find((c) => c.id === id);
        if (moved) { to.insertBefore(moved, here || null); here = moved; }
        else { to.insertBefore(document.importNode(wanted[i], true), here || null); continue; }
      }
      // Keep an element with another place for later, such as the row below a new one.
      if (!id && here && here.id) { to.insertBefore(document.importNode(wanted[i], true), here); continue; }
      if (here) sync(here, wanted[i]);
      else to.append(document.importNode(wanted[i], true));
    }
    while (to.childNodes.length > wanted.length) to.lastChild.remove();
  };

  // announce reads the summary to users of screen readers, at intervals.
  const announce = () => {
    const text = main.dataset.summary || "";
    if (Date.now() - announced < announceEvery || spoken.textContent === text) return;
    spoken.textContent = text;
    announced = Date.now();
  };

  const refresh = () => {
    if (document.hidden) return;
    if (fetching) { again = true; return; }
    fetching = true;
    const left = last + minInterval - Date.now();
    if (left > 0) { setTimeout(load, left); } else { load(); }
  };

  const load = () => {
    last = Date.now();
    const x = new XMLHttpRequest();
    x.open("GET", location.pathname + location.search.replace(/([?&])did=[a-z]*/, "$1"));
    x.responseType = "document";
    x.timeout = 15000;
    x.onload = () => {
      if (x.status === 401 || x.status === 403) { location.reload(); return; }
      const next = x.response && x.response.querySelector("main[data-live]");
      if (!next) return;
      sync(main, next);
      document.title = x.response.title;
      announce();
    };
    x.onloadend = () => {
      fetching = false;
      if (again) { again = false; refresh(); }
    };
    x.send();
  };

  const close = () => {
    clearTimeout(retry);
    if (stream) stream.close();
    stream = null;
  };

  const open = () => {
    close();
    stream = new EventSource(main.dataset.live);
    stream.onopen = () => { wait = minWait; showState("live", true); };
    stream.addEventListener("change", refresh);
    stream.onerror = () => {
      showState("reconnecting", false);
      if (!stream || stream.readyState !== EventSource.CLOSED) return;
      // The browser has given up: the server is down, or the session has ended.
      close();
      refresh();
      retry = setTimeout(open, wait);
      wait = Math.min(wait * 2, maxWait);
    };
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { close(); showState("paused", false); } else { refresh(); open(); }
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (e) => { if (e.persisted) { refresh(); open(); } });
  setInterval(refresh, checkEvery);
  announced = Date.now();
  if (!document.hidden) open();
})();

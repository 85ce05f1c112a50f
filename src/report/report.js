// The script of a report: theme, level, filter, search, tips, downloads.  The page is complete without it.
"use strict";
(function () {
  const root = document.documentElement;
  const all = (what, within) => Array.from((within || document).querySelectorAll(what));
  const one = (what) => document.querySelector(what);
  const data = JSON.parse(one("#data").textContent);
  const FEW = 12;
  const state = { level: 0, cluster: null, text: "", rows: FEW };
  root.classList.add("js");

  // ---- theme: follows the system until the reader chooses
  function keep(name, value) {
    try {
      if (value !== undefined) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch (e) {
      return null;
    }
  }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = keep("vhem-theme") || system;
  one("#theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    keep("vhem-theme", root.dataset.theme);
  });
  let before = null;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
  });

  // ---- clusters: a cluster contains clusters of lower levels and is part of clusters of higher ones
  function above(l, j, to) {
    for (; l < to && j >= 0; l++) j = data.levels[l].parent[j];
    return j;
  }
  function related(l, j) {
    const c = state.cluster;
    if (!c) return true;
    return l <= c.l ? above(l, j, c.l) === c.j : above(c.l, c.j, l) === j;
  }
  const marked = all("[data-c]").map((e) => ({ e, l: +e.dataset.l, j: +e.dataset.c }));
  const leveled = all("[data-level]");

  function show() {
    for (const e of leveled) e.classList.toggle("off", +e.dataset.level !== state.level);
    for (const m of marked) {
      const dim = !related(m.l, m.j);
      const card = m.e.matches(".card");
      if (card || m.e.matches(".example")) m.e.classList.toggle("off", dim || (card && m.l !== state.level));
      else m.e.classList.toggle("dim", dim);
    }
    const clear = one("#clear"), c = state.cluster;
    clear.hidden = !c;
    if (c) {
      const which = data.levels.length > 1 ? " of level " + (c.l + 1) : "";
      clear.textContent = "Cluster " + c.j + which + "  \u00d7";
      clear.setAttribute("aria-label", "Show all clusters again");
    }
    list();
  }
  function choose(l, j) {
    const c = state.cluster;
    state.cluster = c && c.l === l && c.j === j ? null : { l, j };
    state.rows = FEW;
    show();
  }
  one("#clear").addEventListener("click", () => {
    state.cluster = null;
    show();
    one("#find").focus();
  });
  for (const e of all('input[name="level"]')) {
    e.addEventListener("change", () => {
      state.level = +e.value;
      show();
    });
  }
  function picked(target) {
    const e = target.closest && target.closest("svg [data-c]");
    if (!e) return false;
    choose(+e.dataset.l, +e.dataset.c);
    return true;
  }
  document.addEventListener("click", (event) => picked(event.target));
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches(".pick") && picked(event.target))
      event.preventDefault();
    if (event.key === "Escape") {
      tell(null);
      if (state.cluster) {
        state.cluster = null;
        show();
      }
    }
  });
  for (const e of all(".to-center")) {
    e.addEventListener("click", () => {
      const level = +e.getAttribute("href").split("-")[1];
      const radio = one('input[name="level"][value="' + level + '"]');
      state.level = level;
      if (radio) radio.checked = true;
      show();
    });
  }
  for (const e of all("[data-fold]")) {
    e.addEventListener("click", () => {
      for (const d of all(".tree details")) d.open = e.dataset.fold === "1";
    });
  }

  // ---- the list of models
  function cell(row, text, tag) {
    const e = document.createElement(tag || "td");
    e.textContent = text;
    row.appendChild(e);
    return e;
  }
  function list() {
    const table = one("#list"), text = state.text.toLowerCase();
    const fits = (m) => related(0, m[2]) && (!text || nameOf(m).toLowerCase().includes(text));
    const found = data.models.filter(fits), n = found.length, total = data.models.length;
    const shown = found.slice(0, state.rows);
    one("#count").textContent = (n === data.total ? "All " + n : n + " of " + data.total) + " " + data.thing + "s" +
      (state.cluster ? " in the chosen cluster" : "") +
      (text ? " with \u201c" + state.text + "\u201d" : "") +
      ", by cluster, the nearest to their centre first." +
      (n ? " Click a row to show only its cluster." : "") +
      (total < data.total ? " The page lists and searches the " + total + " nearest to their centres; the table members.tsv has all." : "");
    table.replaceChildren();
    const head = document.createElement("tr");
    cell(head, data.thing, "th");
    if (data.classes.length) cell(head, "class", "th");
    data.levels.forEach((_, l) => cell(head, data.levels.length > 1 ? "level " + (l + 1) : "cluster", "th"));
    cell(head, "membership", "th");
    const shares = data.models.some((m) => m.length > 5);
    if (shares) cell(head, "share of " + data.of, "th");
    table.createTHead().appendChild(head);
    const body = table.createTBody();
    for (const m of shown) {
      const row = body.insertRow();
      row.tabIndex = 0;
      cell(row, nameOf(m));
      if (data.classes.length) cell(row, m[3] < 0 ? "" : data.classes[m[3]]);
      data.levels.forEach((_, l) => cell(row, above(0, m[2], l)));
      cell(row, m[4] >= 0.9995 ? "1" : m[4].toFixed(3));
      if (shares) cell(row, m[5] >= 1 ? "100 %" : Math.min(99, Math.round(100 * m[5])) + " %");
      const go = () => choose(state.level, above(0, m[2], state.level));
      row.addEventListener("click", go);
      row.addEventListener("keydown", (event) => {
        if (event.key === "Enter") go();
      });
    }
    if (n > shown.length) {
      const more = document.createElement("button"), row = body.insertRow(), td = cell(row, "");
      td.colSpan = 9;
      more.type = "button";
      more.textContent = n - shown.length > 200 ? "Show 200 of " + (n - shown.length) + " more" : "Show " + (n - shown.length) + " more";
      more.addEventListener("click", (event) => {
        event.stopPropagation();
        state.rows += 200;
        list();
      });
      td.appendChild(more);
    }
  }
  function nameOf(m) {
    return m[0] || data.thing + " " + m[1];
  }
  let wait = 0;
  one("#find").addEventListener("input", (event) => {
    clearTimeout(wait);
    wait = setTimeout(() => {
      state.text = event.target.value.trim();
      state.rows = FEW;
      list();
    }, 80);
  });
  one("#find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") one("#members").scrollIntoView({ behavior: "smooth" });
  });

  // ---- tips: the titles of shapes, shown at the pointer without delay
  const tip = one("#tip");
  function textOf(target, event) {
    if (!target.closest) return null;
    const matrix = target.closest(".matrix");
    if (matrix) return inMatrix(matrix, event);
    for (let e = target; e && e.tagName && e.tagName !== "svg" && e.closest("svg"); e = e.parentNode) {
      const title = Array.from(e.children).find((c) => c.tagName === "title");
      if (title) {
        e.setAttribute("data-tip", title.textContent);
        if (!e.hasAttribute("aria-label")) e.setAttribute("aria-label", title.textContent);
        title.remove();
      }
      if (e.dataset && e.dataset.tip) return e.dataset.tip;
    }
    return null;
  }
  function inMatrix(e, event) {
    if (!e.names) {
      e.names = JSON.parse(e.dataset.names);
      e.values = e.dataset.values.split(" ");
    }
    const box = e.getBoundingClientRect(), n = +e.dataset.n;
    const c = Math.floor((event.clientX - box.left) / box.width * n);
    const r = Math.floor((event.clientY - box.top) / box.height * n);
    if (c < 0 || r < 0 || c >= n || r >= n) return null;
    return e.names[r] + " and " + e.names[c] + ": " + e.values[r * n + c];
  }
  function place(x, y) {
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - w - 8)) + "px";
    tip.style.top = (y + 18 + h > innerHeight ? y - h - 10 : y + 18) + "px";
  }
  function tell(text, x, y) {
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    place(x, y);
  }
  document.addEventListener("pointermove", (event) => {
    tell(textOf(event.target, event), event.clientX, event.clientY);
  });
  document.addEventListener("pointerleave", () => tell(null));
  addEventListener("scroll", () => tell(null), { passive: true });
  document.addEventListener("focusin", (event) => {
    const e = event.target, box = e.getBoundingClientRect && e.getBoundingClientRect();
    if (box && e.matches("svg .pick:focus-visible")) tell(e.getAttribute("aria-label"), box.left, box.bottom - 14);
    else tell(null);
  });

  // ---- charts and tables wider than the screen: the edge fades if there is more, and a line says so
  function edges(e) {
    const more = e.scrollWidth - e.clientWidth, wide = e.clientWidth > 0 && more > 2;
    e.classList.toggle("more-left", wide && e.scrollLeft > 2);
    e.classList.toggle("more-right", wide && e.scrollLeft < more - 2);
    e.nextElementSibling.hidden = !wide;
    if (wide) e.tabIndex = 0;
    else e.removeAttribute("tabindex");
  }
  const sizes = new ResizeObserver((list) => list.forEach((seen) => edges(seen.target)));
  for (const e of all(".scroll")) {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Scroll sideways to see all of it \u2192";
    hint.hidden = true;
    e.after(hint);
    e.addEventListener("scroll", () => edges(e), { passive: true });
    sizes.observe(e);
  }

  // ---- figures as self-contained files, in the light theme
  function fileText(figure) {
    const copy = figure.querySelector("svg.fig").cloneNode(true);
    for (const use of all("use", copy)) {
      const image = document.getElementById(use.getAttribute("href").slice(1)).cloneNode(true);
      image.removeAttribute("id");
      image.setAttribute("transform", use.getAttribute("transform"));
      use.replaceWith(image);
    }
    for (const e of all("*", copy)) {
      for (const name of ["data-l", "data-c", "data-tip", "tabindex", "role", "data-names", "data-values"])
        e.removeAttribute(name);
      e.classList.remove("dim", "pick");
    }
    return new XMLSerializer().serializeToString(copy);
  }
  function save(blob, name) {
    const a = document.createElement("a"), url = URL.createObjectURL(blob);
    a.href = url;
    a.download = name;
    document.body.appendChild(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
  function savePng(text, svg, name) {
    const image = new Image(), scale = 3, w = +svg.getAttribute("width"), h = +svg.getAttribute("height");
    image.onload = () => {
      const canvas = document.createElement("canvas"), c = canvas.getContext("2d");
      canvas.width = w * scale;
      canvas.height = h * scale;
      c.fillStyle = "#ffffff";
      c.fillRect(0, 0, canvas.width, canvas.height);
      c.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }
  for (const a of all("[data-get]")) {
    a.addEventListener("click", (event) => {
      event.preventDefault();
      const figure = a.closest("figure"), text = fileText(figure);
      const name = figure.dataset.name + "." + a.dataset.get;
      if (a.dataset.get === "png") savePng(text, figure.querySelector("svg.fig"), name);
      else save(new Blob([text], { type: "image/svg+xml" }), name);
    });
    a.setAttribute("aria-label", "Download this figure as " + a.dataset.get.toUpperCase());
  }

  // ---- current section
  const links = new Map(all(".bar nav a").map((a) => [a.getAttribute("href").slice(1), a]));
  if ("IntersectionObserver" in window) {
    const seen = new IntersectionObserver((entries) => {
      for (const e of entries) {
        const a = links.get(e.target.id);
        if (a && e.isIntersecting) {
          for (const other of links.values()) other.classList.toggle("here", other === a);
        }
      }
    }, { rootMargin: "-20% 0px -70% 0px" });
    for (const s of all("section")) seen.observe(s);
  }
  show();
})();

"use strict";
// Shows one slice of a table: a dimension down, a dimension across, the others fixed; codes fold along their hierarchy.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("viewer");
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: data.decimals });
  const STEP = { row: 200, col: 30 };
  const make = (tag, attributes = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };

  const tables = data.tables.map((table) => {
    const strides = [];
    let size = 1;
    for (const axis of table.axes) { strides.push(size); size *= axis.codes.length; }
    const place = size < Number.MAX_SAFE_INTEGER
      ? (at) => at.reduce((sum, code, k) => sum + code * strides[k], 0)
      : (at) => at.join(" ");
    const index = new Map();
    for (let i = 0; i < table.value.length; i++) index.set(place(table.at.map((codes) => codes[i])), i);
    for (const axis of table.axes) {
      const nodes = axis.nodes;
      axis.end = new Array(nodes.length);
      const path = [];
      for (let i = 0; i <= nodes.length; i++) {
        const depth = i < nodes.length ? nodes[i][1] : 0;
        while (path.length && (i === nodes.length || nodes[path[path.length - 1]][1] >= depth)) axis.end[path.pop()] = i;
        path.push(i);
      }
      axis.inner = (i) => axis.end[i] > i + 1;
      axis.firstOpen = () => new Set(nodes.flatMap((n, i) => (n[1] === 0 || nodes.length <= 24) && axis.inner(i) ? [i] : []));
    }
    return { ...table, place, index };
  });

  let table, state;
  const choose = (which) => {
    table = tables[which];
    const long = table.axes.map((axis, k) => [-axis.codes.length, k]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((x) => x[1]);
    const down = long.length ? Math.min(...long.slice(0, 1)) : 0;
    const across = table.axes.length > 1 ? long[1] : -1;
    state = {
      down, across, find: "", limit: { ...STEP },
      fixed: table.axes.map((axis) => (axis.nodes.length ? axis.nodes[0][0] : 0)),
      open: table.axes.map((axis) => axis.firstOpen()),
    };
    draw();
  };

  const visible = (axis, open, find) => {
    const found = [];
    const word = find.trim().toLowerCase();
    for (let i = 0; i < axis.nodes.length; ) {
      if (word) {
        if (axis.codes[axis.nodes[i][0]].toLowerCase().includes(word)) found.push(i);
        i++;
      } else {
        found.push(i);
        i = open.has(i) ? i + 1 : axis.end[i];
      }
    }
    return found;
  };

  const picker = (label, options, value, change) => {
    const select = make("select", { onchange: () => { change(+select.value); draw(); } });
    for (const [text, key] of options) select.append(make("option", { value: key, textContent: text, selected: key === value }));
    return make("label", {}, label, select);
  };

  const controls = () => {
    const bar = make("div", { className: "controls" });
    if (tables.length > 1)
      bar.append(picker("Table", tables.map((t, k) => [t.name, k]), tables.indexOf(table), (k) => choose(k)));
    const names = table.axes.map((axis, k) => [axis.name, k]);
    if (table.axes.length > 1) {
      const swap = (mine, other) => (k) => { if (state[other] === k) state[other] = state[mine]; state[mine] = k; state.limit = { ...STEP }; };
      bar.append(picker("Down", names, state.down, swap("down", "across")), picker("Across", names, state.across, swap("across", "down")));
    }
    table.axes.forEach((axis, k) => {
      if (k === state.down || k === state.across) return;
      const options = axis.nodes.map(([code, depth]) => ["\u2003".repeat(depth) + axis.codes[code], code]);
      bar.append(picker(axis.name, options, state.fixed[k], (code) => { state.fixed[k] = code; }));
    });
    const find = make("input", { type: "search", value: state.find, placeholder: "part of a code", id: "find" });
    find.oninput = () => { state.find = find.value; state.limit = { ...STEP }; draw(); document.getElementById("find").focus(); };
    bar.append(make("label", {}, `Find in ${table.axes[state.down].name}`, find));
    const all = (open) => () => {
      const axis = table.axes[state.down];
      state.open[state.down] = open ? new Set(axis.nodes.keys()) : axis.firstOpen();
      draw();
    };
    if (table.axes[state.down].nodes.some((_, i) => table.axes[state.down].inner(i)))
      bar.append(make("button", { textContent: "Unfold all", onclick: all(true) }), make("button", { textContent: "Fold", onclick: all(false) }));
    return bar;
  };

  const heading = (axis, k, i, scope) => {
    const [code, depth] = axis.nodes[i];
    const head = make("th", { scope, className: depth === 0 ? "top" : "", title: axis.codes[code] });
    if (scope === "row") head.style.paddingLeft = `${0.4 + depth * 1.1}rem`;
    const open = state.open[k].has(i);
    const fold = make("button", {
      className: axis.inner(i) ? "fold" : "fold leaf", textContent: open ? "▾" : "▸",
      onclick: () => { open ? state.open[k].delete(i) : state.open[k].add(i); draw(); },
    });
    fold.setAttribute("aria-expanded", open);
    fold.setAttribute("aria-label", `${open ? "Fold" : "Unfold"} ${axis.codes[code]}`);
    if (scope === "row" || axis.inner(i)) head.append(fold);
    head.append(axis.codes[code]);
    return head;
  };

  const cell = (i, top) => {
    if (i === undefined) return make("td", { className: "none", textContent: "·", title: "not in the table" });
    const status = data.statuses[table.status[i]];
    const value = table.value[i];
    const td = make("td", { className: `s-${status.id}${top ? " top" : ""}` });
    td.append(value === null ? status.symbol : number.format(value));
    if (value === null) td.setAttribute("aria-label", status.text);
    if (status.mark && value !== null) td.append(make("sup", { textContent: status.mark }));
    if (table.detail) {
      td.tabIndex = 0;
      td.onmouseenter = td.onfocus = () => show(td, i);
      td.onmouseleave = td.onblur = () => { tip.hidden = true; };
    } else td.title = status.text;
    return td;
  };

  const tip = make("div", { id: "tip", hidden: true, role: "status" });
  document.body.append(tip);
  const show = (td, i) => {
    const lines = [table.at.map((codes, k) => table.axes[k].codes[codes[i]]).join(" × "), data.statuses[table.status[i]].text];
    for (const column of table.detail) {
      const value = Array.isArray(column.of) ? column.of[i] : column.of[i] ?? null;
      if (value === null || value === undefined) continue;
      lines.push(`${column.name}: ${Array.isArray(value) ? value.map(word).join(" to ") : word(column.words ? column.words[value] : value)}`);
    }
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const box = td.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${box.bottom + tip.offsetHeight + 8 < innerHeight ? box.bottom + 4 : Math.max(4, box.top - tip.offsetHeight - 4)}px`;
  };
  const word = (value) => (typeof value === "number" ? number.format(value) : value);

  const draw = () => {
    tip.hidden = true;
    const down = table.axes[state.down];
    const across = state.across < 0 ? null : table.axes[state.across];
    const rows = visible(down, state.open[state.down], state.find);
    const cols = across ? visible(across, state.open[state.across], "") : [null];
    const shownRows = rows.slice(0, state.limit.row), shownCols = cols.slice(0, state.limit.col);
    const body = make("tbody");
    const at = [...state.fixed];
    for (const i of shownRows) {
      at[state.down] = down.nodes[i][0];
      const line = make("tr", {}, heading(down, state.down, i, "row"));
      for (const j of shownCols) {
        if (across) at[state.across] = across.nodes[j][0];
        line.append(cell(table.index.get(table.place(at)), down.nodes[i][1] === 0 || (across && across.nodes[j][1] === 0)));
      }
      body.append(line);
    }
    const head = make("tr", {}, make("th", { textContent: across ? `${down.name} \\ ${across.name}` : down.name }));
    for (const j of shownCols)
      head.append(across ? heading(across, state.across, j, "col") : make("th", { scope: "col", textContent: data.value }));
    const caption = across ? `${data.value} by ${down.name} and ${across.name}` : `${data.value} by ${down.name}`;
    const cube = make("table", { className: "cube" }, make("thead", {}, head), body);
    cube.setAttribute("aria-label", caption);
    const before = root.querySelector(".scroll");
    const scroll = make("div", { className: "scroll", tabIndex: 0 }, cube);
    const parts = [controls(), scroll];
    const more = (kind, all, what) => {
      if (all.length > state.limit[kind]) {
        const left = all.length - state.limit[kind];
        parts.push(make("button", {
          className: "more", textContent: `Show ${Math.min(STEP[kind], left)} of ${left.toLocaleString("en")} more ${what}`,
          onclick: () => { state.limit[kind] += STEP[kind]; draw(); },
        }));
      }
    };
    more("row", rows, "rows");
    more("col", cols, "columns");
    const [x, y] = before ? [before.scrollLeft, before.scrollTop] : [0, 0];
    root.replaceChildren(...parts);
    scroll.scrollTo(x, y);
  };
  choose(0);
})();

"use strict";
// Shows one slice of a table: a dimension down, a dimension across, the others fixed; codes fold along their hierarchy.
// Published cells are shaded by their value; a folded code says how many cells are hidden below it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.getElementById("viewer");
  // values have the decimals of the table, or where these are not fixed, those that they need; other numbers two at least
  const signs = { ".": data.signs[0], ",": data.signs[1] };
  const written = (least, most) => {
    const form = new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: most });
    return (value) => form.format(value).replace(/[.,]/g, (sign) => signs[sign]);
  };
  const MOST_DECIMALS = 6;
  const number = written(data.decimals ?? 0, data.decimals ?? MOST_DECIMALS);
  const other = written(0, data.decimals === null ? MOST_DECIMALS : Math.max(2, data.decimals));
  const STEP = { row: 200, col: 30 };
  const FIRST = { row: 60, col: 14 }; // lines that are unfolded at most when the page opens
  const SHADES = 6;
  const PAPER = 60000; // cells on paper at most, but for the slice in view, which is whole
  const NO_LIMIT = { row: Infinity, col: Infinity };
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
    const hidden = [];
    table.status.forEach((status, i) => { if (data.statuses[status].hidden) hidden.push(i); });
    return { ...table, place, index, hidden };
  });

  // The longest dimension down, the next one across
  const layout = ({ axes }) => {
    const long = axes.map((axis, k) => [-axis.codes.length, k]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((x) => x[1]);
    return {
      down: long[0] ?? 0, across: axes.length > 1 ? long[1] : -1,
      fixed: axes.map((axis) => (axis.nodes.length ? axis.nodes[0][0] : 0)),
    };
  };

  let table, state;
  const choose = (which, find = "") => {
    table = tables[which];
    const { down, across, fixed } = layout(table);
    state = {
      down, across, fixed, find, limit: { ...STEP },
      open: table.axes.map((axis) => axis.firstOpen()),
    };
    openOnHidden();
    reveal(down, FIRST.row);
    if (across >= 0) reveal(across, FIRST.col);
    draw();
  };

  // Cells hidden in the slice shown, by the code along one of its dimensions
  const hiddenBy = (k, fixed) => {
    const free = (j) => j === state.down || j === state.across;
    const found = new Map();
    for (const i of table.hidden) {
      if (!table.at.every((codes, j) => free(j) || codes[i] === fixed[j])) continue;
      const code = table.at[k][i];
      found.set(code, (found.get(code) ?? 0) + 1);
    }
    return found;
  };

  // Where the first codes of the dimensions that are fixed hide nothing, the page opens on codes that do: the least deep
  // ones, and of these the ones with the most hidden cells
  const openOnHidden = () => {
    const others = [...table.axes.keys()].filter((k) => k !== state.down && k !== state.across);
    if (!table.hidden.length || hiddenBy(state.down, state.fixed).size) return;
    const depths = table.axes.map((axis) => {
      const found = [];
      for (const [code, depth] of axis.nodes) found[code] = Math.min(found[code] ?? Infinity, depth);
      return found;
    });
    const slices = new Map();
    for (const i of table.hidden) {
      const codes = others.map((k) => table.at[k][i]), key = codes.join(" ");
      const depth = others.reduce((sum, k, j) => sum + depths[k][codes[j]], 0);
      const slice = slices.get(key) ?? { codes, depth, hidden: 0 };
      slice.hidden++;
      slices.set(key, slice);
    }
    const [best] = [...slices.values()].sort((a, b) => a.depth - b.depth || b.hidden - a.hidden);
    others.forEach((k, j) => { state.fixed[k] = best.codes[j]; });
  };

  // A code under several parents counts once below a parent of both
  const below = (axis, i, counts) => {
    const codes = new Set();
    for (let j = i + 1; j < axis.end[i]; j++) codes.add(axis.nodes[j][0]);
    let sum = 0;
    for (const code of codes) sum += counts.get(code) ?? 0;
    return sum;
  };

  // Unfolds what has hidden cells below, from the top down, as long as the view stays small
  const reveal = (k, most) => {
    const axis = table.axes[k], counts = hiddenBy(k, state.fixed), open = state.open[k];
    if (axis.nodes.length > 20000) return;
    let shown = visible(axis, open, []);
    for (let again = true; again; ) {
      again = false;
      for (const i of shown) {
        if (open.has(i) || !axis.inner(i) || !below(axis, i, counts)) continue;
        open.add(i);
        const more = visible(axis, open, []);
        if (more.length > most) { open.delete(i); continue; }
        shown = more;
        again = true;
        break;
      }
    }
  };

  const visible = (axis, open, words) => {
    const found = [];
    for (let i = 0; i < axis.nodes.length; ) {
      if (words.length) {
        if (words.some((word) => has(axis, i, word))) found.push(i);
        i++;
      } else {
        found.push(i);
        i = open.has(i) ? i + 1 : axis.end[i];
      }
    }
    return found;
  };

  const label = (axis, code) => axis.labels?.[code] ?? "";
  const named = (axis, code) => (label(axis, code) ? `${axis.codes[code]} ${label(axis, code)}` : axis.codes[code]);
  const has = (axis, i, word) => named(axis, axis.nodes[i][0]).toLowerCase().includes(word);

  // Every word is looked for in all dimensions: it filters rows and columns, and chooses the codes of the others
  const search = () => {
    const words = state.find.toLowerCase().split(/\s+/).filter(Boolean);
    const found = { all: words, words: table.axes.map(() => []), fixed: [...state.fixed], nothing: [] };
    for (const word of words) {
      let known = false;
      table.axes.forEach((axis, k) => {
        const i = axis.nodes.findIndex((_, j) => has(axis, j, word));
        if (i < 0) return;
        known = true;
        if (k === state.down || k === state.across) found.words[k].push(word);
        else found.fixed[k] = axis.nodes[i][0];
      });
      if (!known) found.nothing.push(word);
    }
    return found;
  };

  const picker = (label, options, value, change) => {
    const select = make("select", { onchange: () => { change(+select.value); draw(); } });
    for (const [text, key] of options) select.append(make("option", { value: key, textContent: text, selected: key === value }));
    return make("label", {}, label, select);
  };

  const controls = (fixed) => {
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
      const options = axis.nodes.map(([code, depth]) => ["\u2003".repeat(depth) + named(axis, code), code]);
      bar.append(picker(axis.name, options, fixed[k], (code) => { state.fixed[k] = code; }));
    });
    const find = make("input", { type: "search", value: state.find, placeholder: "parts of codes or labels", id: "find" });
    find.oninput = () => { state.find = find.value; state.limit = { ...STEP }; draw(); document.getElementById("find").focus(); };
    bar.append(make("label", {}, "Find in all dimensions", find));
    const all = (open) => () => {
      const axis = table.axes[state.down];
      state.open[state.down] = new Set([...axis.nodes.keys()].filter((i) => open || axis.nodes[i][1] === 0));
      draw();
    };
    if (table.axes[state.down].nodes.some(([, depth], i) => depth && table.axes[state.down].inner(i)))
      bar.append(make("button", { textContent: "Unfold all", onclick: all(true) }), make("button", { textContent: "Fold", onclick: all(false) }));
    return bar;
  };

  const heading = (axis, k, i, scope, counts) => {
    const [code, depth] = axis.nodes[i];
    const head = make("th", { scope, className: depth === 0 ? "top" : "", title: named(axis, code) });
    if (scope === "row") head.style.paddingLeft = `${0.4 + depth * 1.1}rem`;
    const open = state.open[k].has(i);
    const fold = make("button", {
      className: axis.inner(i) ? "fold" : "fold leaf", textContent: open ? "▾" : "▸",
      onclick: () => { open ? state.open[k].delete(i) : state.open[k].add(i); draw(); },
    });
    fold.setAttribute("aria-expanded", open);
    fold.setAttribute("aria-label", `${open ? "Fold" : "Unfold"} ${named(axis, code)}`);
    if (scope === "row" || axis.inner(i)) head.append(fold);
    head.append(axis.codes[code]);
    if (label(axis, code)) head.append(make("span", { className: "label", textContent: label(axis, code) }));
    const n = open || !axis.inner(i) ? 0 : below(axis, i, counts);
    if (n) head.append(make("span", { className: "below", textContent: `${n} hidden` , title: `${n} hidden cell${n === 1 ? "" : "s"} below ${named(axis, code)}` }));
    return head;
  };

  // Shades go by orders of magnitude, over the published cells that are shown
  const scale = (cells) => {
    let low = Infinity, high = 0;
    for (const i of cells) {
      if (i === undefined || table.value[i] === null || data.statuses[table.status[i]].hidden) continue;
      const size = Math.abs(table.value[i]);
      if (size > 0) { low = Math.min(low, size); high = Math.max(high, size); }
    }
    return (value) => {
      if (!value || low >= high) return 0;
      return Math.min(SHADES, 1 + Math.floor(SHADES * Math.log(Math.abs(value) / low) / Math.log(high / low)));
    };
  };

  const cell = (i, top, shade) => {
    if (i === undefined) return make("td", { className: "none", textContent: "·", title: "not in the table" });
    const status = data.statuses[table.status[i]];
    const value = table.value[i];
    const heat = value === null || status.hidden ? 0 : shade(value);
    const td = make("td", { className: `s-${status.id}${top ? " top" : ""}${heat ? ` h${heat}` : ""}` });
    td.append(value === null ? status.symbol : number(value));
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
    const lines = [table.at.map((codes, k) => named(table.axes[k], codes[i])).join(" × "), data.statuses[table.status[i]].text];
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
  const word = (value) => (typeof value === "number" ? other(value) : value);

  // The rows and columns of a slice, as far as they are unfolded and found; on paper all of them
  const grid = (found, limit, paper) => {
    const down = table.axes[state.down];
    const across = state.across < 0 ? null : table.axes[state.across];
    const all = (axis) => new Set(axis.nodes.keys());
    const rows = found.nothing.length ? [] : visible(down, paper ? all(down) : state.open[state.down], found.words[state.down]);
    const cols = across ? visible(across, paper ? all(across) : state.open[state.across], found.words[state.across]) : [null];
    const shownRows = rows.slice(0, limit.row), shownCols = cols.slice(0, limit.col);
    const body = make("tbody");
    const at = [...found.fixed];
    const cells = shownRows.map((i) => {
      at[state.down] = down.nodes[i][0];
      return shownCols.map((j) => {
        if (across) at[state.across] = across.nodes[j][0];
        return table.index.get(table.place(at));
      });
    });
    const shade = scale(cells.flat());
    const counts = [state.down, state.across].map((k) => (k < 0 || paper ? new Map() : hiddenBy(k, found.fixed)));
    shownRows.forEach((i, r) => {
      const line = make("tr", {}, heading(down, state.down, i, "row", counts[0]));
      shownCols.forEach((j, c) => {
        line.append(cell(cells[r][c], down.nodes[i][1] === 0 || (across && across.nodes[j][1] === 0), shade));
      });
      body.append(line);
    });
    const head = make("tr", {}, make("th", { textContent: across ? `${down.name} \\ ${across.name}` : down.name }));
    for (const j of shownCols)
      head.append(across ? heading(across, state.across, j, "col", counts[1]) : make("th", { scope: "col", textContent: data.value }));
    const measure = data.unit ? `${data.value}, ${data.unit},` : data.value;
    const caption = across ? `${measure} by ${down.name} and ${across.name}` : `${measure} by ${down.name}`;
    const cube = make("table", { className: "cube" }, make("thead", {}, head), body);
    cube.setAttribute("aria-label", caption);
    return { cube, caption, rows, cols };
  };

  const draw = () => {
    tip.hidden = true;
    const found = search(), { limit } = state;
    const { cube, rows, cols } = grid(found, limit, false);
    const before = root.querySelector(".scroll");
    const scroll = make("div", { className: "scroll", tabIndex: 0 }, cube);
    const parts = [controls(found.fixed), scroll];
    if (found.nothing.length) {
      const here = tables.length > 1 ? " of this table" : "";
      const line = make("p", { className: "soft" }, `No code or label${here} holds ${found.nothing.join(", ")}. `);
      tables.forEach((other, k) => {
        if (other !== table && found.all.every((word) => other.axes.some((axis) => axis.nodes.some((_, i) => has(axis, i, word)))))
          line.append(make("button", { textContent: `Found in ${other.name}`, onclick: () => choose(k, state.find) }), " ");
      });
      parts.push(line);
    }
    const more = (kind, all, what) => {
      if (all.length > limit[kind]) {
        const left = all.length - state.limit[kind];
        parts.push(make("button", {
          className: "more", textContent: `Show ${Math.min(STEP[kind], left)} of ${other(left)} more ${what}`,
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

  // Every combination of codes, in their order, that the dimensions neither down nor across have in the table
  const slices = (of, { down, across, fixed }) => {
    const others = [...of.axes.keys()].filter((k) => k !== down && k !== across);
    const rank = of.axes.map((axis) => {
      const first = [];
      axis.nodes.forEach(([code], i) => { first[code] ??= i; });
      return first;
    });
    const found = new Map();
    for (let i = 0; i < of.value.length; i++) {
      const at = others.map((k) => of.at[k][i]), key = at.join(" ");
      if (!found.has(key)) found.set(key, others.reduce((all, k, j) => { all[k] = at[j]; return all; }, [...fixed]));
    }
    const before = (a, b) => others.reduce((sign, k) => sign || rank[k][a[k]] - rank[k][b[k]], 0);
    return [...found.values()].sort(before);
  };

  // On paper nothing can be unfolded, chosen or searched for: it has every slice of every table, the one in view first
  // where they are too many
  const paper = () => {
    tip.hidden = true;
    const mine = { table, state }, all = [];
    for (const of of tables) {
      const view = of === table ? state : layout(of);
      const lines = (k) => (k < 0 ? 1 : of.axes[k].nodes.length);
      for (const fixed of slices(of, view)) all.push({ of, view, fixed, size: lines(view.down) * lines(view.across) });
    }
    const free = (k) => k === mine.state.down || k === mine.state.across;
    const inView = ({ of, fixed }) => of === mine.table && fixed.every((code, k) => free(k) || code === mine.state.fixed[k]);
    const large = all.reduce((sum, one) => sum + one.size, 0) > PAPER;
    if (large) all.sort((a, b) => inView(b) - inView(a));
    const parts = [];
    let room = PAPER, left = 0;
    for (const one of all) {
      if (parts.length && one.size > room) { left++; continue; }
      room -= one.size;
      table = one.of;
      state = { ...one.view, fixed: one.fixed, open: table.axes.map(() => new Set()) };
      const { cube, caption } = grid({ words: table.axes.map(() => []), fixed: one.fixed, nothing: [] }, NO_LIMIT, true);
      const others = table.axes.flatMap((axis, k) =>
        k === state.down || k === state.across ? [] : [`${axis.name} ${named(axis, one.fixed[k])}`]);
      const name = tables.length > 1 ? `${table.name}: ` : "";
      cube.prepend(make("caption", { textContent: name + [caption, ...others].join("; ") }));
      parts.push(make("div", { className: "scroll" }, cube));
    }
    ({ table, state } = mine);
    if (left) {
      const words = `${other(left)} of ${other(all.length)} slices are left out on paper; the table files beside this page hold all.`;
      parts.unshift(make("p", { className: "left", textContent: words }));
    }
    root.replaceChildren(...parts);
  };
  addEventListener("beforeprint", paper);
  addEventListener("afterprint", () => draw());
  // the first table with hidden cells, else the first one
  choose(Math.max(0, tables.findIndex((one) => one.hidden.length)));
})();

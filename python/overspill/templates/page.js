"use strict";
(function () {
  const config = { displaylogo: false, responsive: false, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"] };
  const plots = Array.from(document.querySelectorAll(".plot"));
  const isNarrow = () => plots.length > 0 && plots[0].clientWidth < 620;
  let narrow = isNarrow();

  function parsed(plot) {
    if (!plot.parsed) plot.parsed = JSON.parse(document.getElementById(plot.dataset.figure).textContent);
    return plot.parsed;
  }

  const UNITS = {
    time: [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"], [1e-12, "ps"]],
    bytes: [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]],
    rate: [[1e12, "Tbit/s"], [1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
    share: [[0.01, "%"]],
    number: [[1, ""]],
  };
  function withUnit(value, kind) {
    const [factor, unit] = UNITS[kind].find((one) => value >= one[0] * 0.9999) || UNITS[kind].at(-1);
    const number = Number((value / factor).toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
    return (number.replaceAll(",", "\u2009") + (unit === "%" ? "" : " ") + unit).trim();
  }
  function evenTicks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
    const found = [];
    for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(Number((at * step).toPrecision(10)));
    return found;
  }
  // Ticks of a logarithmic axis from 10^low to 10^high, so many at most.
  function logTicks(low, high, kind, most) {
    for (const parts of [[1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]]) {
      const places = [];
      for (let power = Math.floor(low); power <= Math.ceil(high); power++)
        for (const part of parts) {
          const place = power + Math.log10(part);
          if (place >= low - 1e-9 && place <= high + 1e-9) places.push(place);
        }
      const step = parts.length === 1 ? Math.ceil(places.length / most) : 1;
      if (places.length <= most || parts.length === 1) {
        const few = places.length < 3 && high > low;
        const kept = few ? evenTicks(10 ** low, 10 ** high, most) : places.filter((_, at) => at % step === 0).map((place) => Number((10 ** place).toPrecision(6)));
        return { tickvals: kept, ticktext: kept.map((value) => withUnit(value, kind)) };
      }
    }
  }
  function ticksOf(layout, name, range, plot) {
    const [low, high] = [Math.min(...range), Math.max(...range)];
    const domain = layout[name].domain || [0, 1];
    const pixels = (domain[1] - domain[0]) * (name[0] === "x" ? plot.clientWidth - 90 : layout.height - 90);
    return logTicks(low, high, layout.meta.log[name], Math.max(2, Math.floor(pixels / (name[0] === "x" ? 74 : 26))));
  }
  function zoomed(plot, changed) {
    const full = plot._fullLayout, update = {};
    if (!Object.keys(changed).some((key) => /axis\d*\.(range|autorange)/.test(key))) return;
    for (const name of Object.keys(full.meta.log)) {
      const ticks = ticksOf(plot.layout, name, full[name].range, plot);
      if (String(ticks.tickvals) !== String(full[name].tickvals)) for (const key in ticks) update[`${name}.${key}`] = ticks[key];
    }
    if (Object.keys(update).length) Plotly.relayout(plot, update);
  }
  function layoutOf(plot) {
    const layout = structuredClone(parsed(plot)[narrow ? "narrow" : "wide"]);
    layout.width = plot.clientWidth;
    for (const name of Object.keys(layout.meta.log)) Object.assign(layout[name], ticksOf(layout, name, layout[name].range, plot));
    return layout;
  }
  function draw(plot) {
    plot.style.minHeight = "0";
    // On a narrow page names of many nodes would lie on each other.
    const crowded = (trace) => narrow && trace.mode === "markers+text" && trace.text.filter(Boolean).length > 8;
    const data = parsed(plot).data.map((trace) => (crowded(trace) ? { ...trace, mode: "markers" } : trace));
    const drawn = Plotly.react(plot, data, layoutOf(plot), config);
    if (!plot.listens) plot.on("plotly_relayout", (changed) => zoomed(plot, changed));
    plot.listens = true;
    return drawn;
  }
  async function drawAll() {
    for (const plot of plots) {
      await draw(plot);
      await new Promise((done) => setTimeout(done, 0));
    }
    document.documentElement.dataset.drawn = String(plots.length);
  }

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      narrow = isNarrow();
      for (const plot of plots) draw(plot);
    }, 150);
  });

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const plot = button.closest("figure").querySelector(".plot");
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const data = parsed(plot).data;
      const which = data.map((_, at) => at).filter((at) => data[at].legendgroup === button.dataset.key);
      for (const at of which) data[at].visible = shown;
      Plotly.restyle(plot, { visible: shown }, which);
    });
  }

  function sift(id) {
    const words = document.querySelector(`[data-filter="${id}"]`).value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = document.querySelector(`[data-unfold="${id}"]`);
    const rows = Array.from(document.getElementById(id).tBodies[0].rows);
    let shown = 0;
    for (const row of rows) {
      const text = (row.textContent + " " + row.dataset.name).toLowerCase();
      const folded = "fold" in row.dataset && !(all && all.checked) && words.length === 0;
      row.hidden = folded || !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    document.querySelector(`[data-count="${id}"]`).textContent = words.length ? `${shown} of ${rows.length}` : "";
  }
  for (const input of document.querySelectorAll("[data-filter]")) input.addEventListener("input", () => sift(input.dataset.filter));
  for (const box of document.querySelectorAll("[data-unfold]")) box.addEventListener("change", () => sift(box.dataset.unfold));

  function order(cell) {
    if (cell.dataset.value === undefined) return cell.textContent;
    return cell.dataset.value === "" ? Infinity : Number(cell.dataset.value);
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const one of heads) one.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = Array.from(table.tBodies[0].rows).map((row) => [order(row.cells[at]), row]);
      const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      table.tBodies[0].append(...rows.map((one) => one[1]));
    }));
  }
  drawAll();
})();

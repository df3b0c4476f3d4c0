// Shows the Gantt charts of a report in the colours of the page; buttons and keys move them.
"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const views = [];

function paint() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  for (const view of views) {
    for (const model of view.model.references()) {
      if (model.type === "LinearAxis") {
        model.setv({axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: ink, major_tick_line_color: ink, minor_tick_line_color: null});
      } else if (model.type === "Grid") { model.setv({grid_line_color: line}); }
    }
  }
}

function move(chart, what) {
  const view = views.find((view) => view.model.name === chart);
  if (!view) { return; }
  const range = view.model.x_range, [least, most] = range.bounds;
  let start = range.start, end = range.end, width = end - start;
  switch (what) {
    case "left": case "right": {
      const step = (what === "left" ? -1 : 1) * width / 5;
      start = Math.min(Math.max(start + step, least), most - width);
      break;
    }
    case "in": case "out": {
      const wanted = Math.min(what === "in" ? width / 2 : width * 2, most - least);
      start = Math.min(Math.max(start + (width - wanted) / 2, least), most - wanted);
      width = wanted;
      break;
    }
    case "all": start = least; width = most - least; break;
  }
  range.setv({start: start, end: start + width});
}

// A finger that moves up or down over a chart scrolls the page. Bokeh would keep the page still.
function letScroll(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) { letScroll(element.shadowRoot); }
    if (getComputedStyle(element).touchAction === "none") { element.style.touchAction = "pan-y"; }
  }
}

const keys = {ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", "0": "all", Home: "all"};
for (const chart of document.querySelectorAll(".pan")) {
  chart.addEventListener("keydown", (event) => {
    const what = keys[event.key];
    if (what && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); move(chart.dataset.chart, what); }
  });
}
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => move(button.parentElement.dataset.chart, button.dataset.do));
}

(async () => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  for (const [name, item] of Object.entries(charts)) {
    const manager = await Bokeh.embed.embed_item(item, "chart-" + name);
    views.push(...manager.roots);
  }
  paint();
  document.querySelectorAll(".chart").forEach(letScroll);
  dark.addEventListener("change", paint);
  document.documentElement.dataset.ready = "true";
})();

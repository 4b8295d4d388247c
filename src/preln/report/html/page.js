// Draws the charts when they are unfolded, switches curves off, and sorts and filters the tables.
function draw(details) {
  for (const spec of details.querySelectorAll("script.spec")) {
    vegaEmbed(spec.previousElementSibling, JSON.parse(spec.textContent), { actions: false, renderer: "svg" }).then(
      ({ view }) => {
        const buttons = [...spec.nextElementSibling.querySelectorAll("button")];
        for (const button of buttons) {
          button.addEventListener("click", () => {
            button.setAttribute("aria-pressed", button.ariaPressed === "false");
            const off = buttons.filter((other) => other.ariaPressed === "false");
            view.signal("off", off.map((other) => other.dataset.curve)).run();
          });
        }
      },
    );
  }
}
for (const details of document.querySelectorAll("details.charts")) {
  details.addEventListener("toggle", () => draw(details), { once: true });
}

const number = (text) => {
  const time = text.match(/^(?:(\d+) days?, )?(\d+):(\d\d):(\d\d)$/);
  if (time) return 86400 * (time[1] ?? 0) + 3600 * time[2] + 60 * time[3] + Number(time[4]);
  return /^[-+]?[\d.,]+(e[-+]?\d+)?/i.test(text) ? parseFloat(text.replaceAll(",", "")) : NaN;
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
};

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows];
      rows.sort((a, b) => compare(a.cells[column].textContent, b.cells[column].textContent) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
}

for (const filter of document.querySelectorAll("input.filter")) {
  const table = filter.closest("label").nextElementSibling.querySelector("table");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}

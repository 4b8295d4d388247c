// Chooses a run by its settings, and shows its curve, gradients, map and command. The address names the run.
const element = (id) => document.getElementById(id);
const { controls, colours, runs } = JSON.parse(element("data").textContent);
const [titles, values] = [Object.keys(controls), Object.values(controls)];
const [, PLACEMENT, , , OTHERS, RATE, WARMUP, SEED] = titles.keys();
const PRE_LN = values[PLACEMENT].indexOf("Pre-LN");
element("controls").innerHTML = titles.map((title) => `<label>${title} <select></select></label>`).join("");
const selects = [...document.querySelectorAll("select")];
const path = (run) => run.folders[0];
const words = (run, control) => values[control][run.choice[control]];
const digits = (number) => String(Number(number.toPrecision(4)));
const safe = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt()};`);
const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
const least = (items, cost) => items.reduce((best, item) => (cost(item) < cost(best) ? item : best), items[0]);
const alike = (run, twin, except) => run.choice.every((value, i) => except.includes(i) || value === twin.choice[i]);
const ending = (run) => (run.diverged ? `diverged at update ${run.diverged}` : `${run.loss} bits a token`);

// Of some runs, the one that shares most with another: a control counts more than all after it.
const nearest = (candidates, run) =>
  least(candidates, ({ choice }) => -choice.reduce((sum, value, i) => sum + (value === run.choice[i]) / 2 ** i, 0));

// Pre-LN of the same text, depth and width; none beside Pre-LN itself.
function preLn(run) {
  if (run.choice[PLACEMENT] === PRE_LN) return [];
  const free = [PLACEMENT, OTHERS, RATE, WARMUP, SEED];
  const candidates = runs.filter((twin) => twin.choice[PLACEMENT] === PRE_LN && alike(run, twin, free));
  return candidates.length ? [nearest(candidates, run)] : [];
}

// Each control in turn keeps the wanted value, or takes the nearest that the runs have which are left.
function choose(wanted) {
  let left = runs;
  selects.forEach((select, i) => {
    const options = sorted(left.map((run) => run.choice[i]));
    const value = least(options, (option) => Math.abs(option - wanted[i]));
    select.replaceChildren(...options.map((option) => new Option(values[i][option], option, false, option === value)));
    left = left.filter((run) => run.choice[i] === value);
  });
  show(left[0]);
}

function show(run) {
  const shown = [run, ...preLn(run)];
  const name = (twin) =>
    [PLACEMENT, ...[OTHERS, RATE, WARMUP, SEED].filter((i) => run.choice[i] !== twin.choice[i])]
      .map((i) => (i === PLACEMENT ? "" : `${titles[i].toLowerCase()} `) + words(twin, i)).join(", ");
  const lines = shown.flatMap((one) => {
    const line = { name: name(one), colour: colours[one.choice[PLACEMENT]], dashed: one !== run };
    const seeds = runs.filter((twin) => twin !== one && alike(one, twin, [SEED]));
    return [...seeds.map((seed) => ({ ...seed, ...line, faint: true })), { ...one, ...line }];
  });
  if (run.baseline) {
    const end = Math.max(...lines.flatMap(({ x, diverged }) => [...x, diverged ?? 0]));
    lines.push({ name: "unigram baseline", x: [0, end], y: [run.baseline, run.baseline], colour: "#666", level: true });
  }
  draw("curve", lines, { axes: ["Update", "Loss (bits/token)"], top: 1.25 * run.baseline || Infinity });
  element("loss").textContent = ending(run);
  element("verdict").textContent = run.fails ? "It fails. " : "";
  element("versus").textContent = shown.slice(1).map((twin) => `${name(twin)}: ${ending(twin)}.`).join("");
  element("command").textContent =
    `preln run config/${path(run).split("/")[0]}.yaml --directory build/again results/${path(run)}/run.json`;
  element("link").href = `#${path(run)}`;
  element("link").textContent = path(run);
  history.replaceState(null, "", `#${path(run)}`);
  showGradients(run);
  showMap(run);
}

function showGradients(run) {
  const trace = run.gradients ? run : nearest(runs.filter((twin) => twin.gradients && twin.model === run.model), run);
  element("traced").hidden = !trace;
  element("untraced").hidden = Boolean(trace);
  if (!trace) return;
  const shown = [trace, ...preLn(trace)];
  const lines = shown.flatMap((one) =>
    one.gradients.map(({ update, norms }, i) => ({
      name: `${words(one, PLACEMENT)}, update ${update}`, colour: colours[one.choice[PLACEMENT]], dashed: i > 0,
      x: [...norms.keys()], y: norms,
    })),
  );
  draw("gradients", lines, { axes: ["Layer", "Norm of the gradient"], log: true, layers: trace.layers });
  element("traces").textContent = `Traced: ${shown.map(path).join("; ")}.`;
}

// The runs that differ in rate, warm-up and seed, as a table.
function showMap(run) {
  const cells = runs.filter((twin) => alike(run, twin, [RATE, WARMUP, SEED]));
  const [rates, warmups] = [RATE, WARMUP].map((i) => sorted(cells.map((cell) => cell.choice[i])));
  const losses = cells.flatMap((cell) => cell.loss ?? []);
  const [low, high] = [Math.min(...losses), Math.max(...losses)];
  const cell = (rate, warmup) => {
    const seeds = cells.filter(({ choice }) => choice[RATE] === rate && choice[WARMUP] === warmup);
    if (!seeds.length) return "<td></td>";
    const ended = seeds.flatMap((seed) => seed.loss ?? []);
    const mean = ended.reduce((sum, loss) => sum + loss, 0) / ended.length;
    const failed = seeds.filter((seed) => seed.fails).length;
    const share = ended.length ? Math.round((60 * (high - mean)) / (high - low || 1)) : 0;
    const current = rate === run.choice[RATE] && warmup === run.choice[WARMUP];
    return `<td class="${failed ? "failed" : ""}" style="--share: ${share}%"><button type="button" data-rate="${rate}"
      data-warmup="${warmup}" aria-current="${current}">${ended.length ? digits(mean) : "×"}
      ${failed ? `<small>${failed} of ${seeds.length} fail</small>` : ""}</button></td>`;
  };
  const row = (warmup) => rates.map((rate) => cell(rate, warmup)).join("");
  const rows = warmups.map((warmup) => `<tr><th scope="row">${values[WARMUP][warmup]}</th>${row(warmup)}</tr>`);
  const heads = rates.map((rate) => `<th scope="col">${values[RATE][rate]}</th>`).join("");
  element("map").innerHTML = `<tr><th scope="col">Warm-up \\ rate</th>${heads}</tr>${rows.join("")}`;
}

// Lines as SVG, with their names below.
function draw(id, lines, { axes, log = false, layers, top = Infinity }) {
  const [width, height, left, right, above, below] = [480, 300, 54, 16, 10, 44];
  // A gradient may be zero.
  const scale = log ? (value) => Math.log10(Math.max(value, 1e-8)) : Number;
  const heights = lines.flatMap((line) => line.y.map((value) => scale(Math.min(value, top))));
  const margin = 0.05 * (Math.max(...heights) - Math.min(...heights)) || 0.1;
  const [low, high] = [Math.min(...heights) - margin, Math.max(...heights) + margin];
  const end = Math.max(1, ...lines.flatMap((line) => [...line.x, line.diverged ?? 0]));
  const x = (value) => (left + ((width - left - right) * value) / end).toFixed(1);
  const share = (value) => (high - scale(Math.min(value, top))) / (high - low);
  const y = (value) => (above + (height - above - below) * share(value)).toFixed(1);
  const ticks = (from, to) => {
    const power = 10 ** Math.floor(Math.log10(to - from));
    const step = power * [0.1, 0.2, 0.5, 1, 2].find((part) => (to - from) / (part * power) <= 7);
    return [...Array(99).keys()].map((i) => (Math.ceil(from / step) + i) * step).filter((tick) => tick <= to);
  };
  const decades = [...Array(12).keys()].flatMap((i) => [1, 2, 5].map((part) => part * 10 ** (i - 8)));
  const marks = log ? decades.filter((mark) => scale(mark) >= low && scale(mark) <= high) : ticks(low, high);
  const places = layers ? [...layers.keys()].filter((i) => layers.length < 13 || i % 6 === 0) : ticks(0, end);
  const look = (line) =>
    `fill="none" stroke="${line.colour}" stroke-width="${line.faint ? 1 : 2}" opacity="${line.faint ? 0.45 : 1}"
     stroke-dasharray="${line.level ? "2 3" : line.dashed ? "6 4" : "none"}"`;
  const point = (line, value, i) =>
    `<circle cx="${x(value)}" cy="${y(line.y[i])}" r="${line.x.length > 20 ? 1.5 : 4}" fill="${line.colour}">
      <title>${safe(`${line.name}: ${line.y[i]}, ${layers ? layers[i] : `update ${value}`}`)}</title></circle>`;
  const curve = (line) =>
    `<path d="${line.x.map((value, i) => `${i ? "L" : "M"}${x(value)} ${y(line.y[i])}`).join("")}" ${look(line)}/>` +
    (line.faint || line.level ? "" : line.x.map((value, i) => point(line, value, i)).join("")) +
    (line.diverged ? `<path d="M${x(line.diverged) - 5} ${above}l10 10m0 -10l-10 10" ${look(line)}/>` : "");
  const named = lines.filter((line) => !line.faint);
  element(id).innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${axes[1]}: ${safe(
    named.map((line) => `${line.name}, last ${line.y.at(-1) ?? "none"}`).join("; "))}">
    ${marks.map((mark) => `<path d="M${left} ${y(mark)}H${width - right}" stroke="#ddd"/>
      <text x="${left - 6}" y="${Number(y(mark)) + 4}" text-anchor="end">${digits(mark)}</text>`).join("")}
    ${places.map((place) => `<text x="${x(place)}" y="${height - below + 18}" text-anchor="middle">${
      layers ? layers[place].replace(/(.).*\./, "$1") : digits(place)}</text>`).join("")}
    <path d="M${left} ${above}V${height - below}H${width - right}" stroke="#333" fill="none"/>
    <text x="${(left + width) / 2}" y="${height - 6}" text-anchor="middle">${axes[0]}</text>
    <text transform="translate(13 ${(height - below) / 2}) rotate(-90)" text-anchor="middle">${axes[1]}</text>
    ${lines.map(curve).join("")}</svg>
    <ul>${named.map((line) => `<li><svg viewBox="0 0 44 8" aria-hidden="true"><path d="M0 4H44" ${look(line)}/></svg>${
      safe(line.name)}</li>`).join("")}</ul>`;
}

for (const select of selects) {
  select.addEventListener("change", () => choose(selects.map(({ value }) => Number(value))));
}
element("map").addEventListener("click", ({ target }) => {
  const { rate, warmup } = target.closest("button")?.dataset ?? {};
  if (rate === undefined) return;
  const wanted = selects.map(({ value }) => Number(value));
  [wanted[RATE], wanted[WARMUP]] = [Number(rate), Number(warmup)];
  choose(wanted);
  element("map").querySelector("[aria-current=true]").focus();
});
// At first, a run that fails.
const restore = () => {
  const named = runs.find(({ folders }) => folders.includes(location.hash.slice(1)));
  choose((named ?? runs.find((run) => run.fails) ?? runs[0]).choice);
};
addEventListener("hashchange", restore);
restore();

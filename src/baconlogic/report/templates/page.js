{
  // What moves the page. The model itself is the code above, as the export writes it; nothing of it is stated here.
  const data = JSON.parse(document.getElementById("data").textContent);
  const percent = (share) => {
    if (Number.isNaN(share)) return "-";
    if (share > 0 && share < 0.0005) return "<0.1%";
    if (share < 1 && share >= 0.9995) return ">99.9%";
    return `${(100 * share).toFixed(1)}%`;
  };
  const shown = (value) => String(Number(value.toPrecision(4)));

  for (const each of document.querySelectorAll(".live")) each.hidden = false;
  for (const each of document.querySelectorAll(".static")) each.hidden = true;

  const unpacked = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Kind(bytes.buffer);
  };

  // The threshold: counts of cases and others above each truth that occurs.
  const startThreshold = (panel) => {
    const kept = data.marks[Number(panel.dataset.chapter)];
    if (!kept) return;
    const truths = unpacked(kept.truths, Float64Array);
    const hits = unpacked(kept.hits, Uint32Array);
    const alarms = unpacked(kept.alarms, Uint32Array);
    const slider = panel.querySelector(".slider");
    const exact = panel.querySelector(".exact");
    const first = exact.value;
    const cost = (name) => Math.max(Number(panel.querySelector(name).value) || 0, 0);

    const countsAt = (threshold) => {
      let low = 0;
      let high = truths.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (truths[middle] <= threshold) low = middle + 1;
        else high = middle;
      }
      return low ? [hits[low - 1], alarms[low - 1]] : [kept.cases, kept.others];
    };
    const show = (name, value, text) => {
      const place = panel.querySelector(`[data-figure="${name}"]`);
      place.textContent = text;
      place.dataset.value = String(value);
    };
    const update = () => {
      const threshold = Number(exact.value);
      const [found, raised] = countsAt(threshold);
      const missed = kept.cases - found;
      const passed = kept.others - raised;
      const counts = { hits: found, alarms: raised, misses: missed, passes: passed };
      for (const name of Object.keys(counts)) show(name, counts[name], String(counts[name]));
      const shares = {
        accuracy: (found + passed) / (kept.cases + kept.others),
        recall: found / kept.cases,
        precision: found / (found + raised),
        specificity: passed / kept.others,
      };
      for (const name of Object.keys(shares)) show(name, shares[name], percent(shares[name]));
      const total = cost(".alarm") * raised + cost(".miss") * missed;
      show("cost", total, shown(total));
    };
    const turn = (value) => {
      exact.value = String(value);
      slider.value = String(value);
      update();
    };
    slider.addEventListener("input", () => {
      exact.value = slider.value;
      update();
    });
    exact.addEventListener("input", () => {
      if (exact.value === "") return;
      slider.value = exact.value;
      update();
    });
    for (const name of [".alarm", ".miss"]) panel.querySelector(name).addEventListener("input", update);
    panel.querySelector(".back").addEventListener("click", () => turn(first));
    panel.querySelector(".cheapest").addEventListener("click", () => {
      const priced = ([found, raised]) => cost(".alarm") * raised + cost(".miss") * (kept.cases - found);
      let best = 0;
      let least = priced(countsAt(0));
      truths.forEach((truth, i) => {
        const total = priced([hits[i], alarms[i]]);
        if (total < least) [best, least] = [truth, total];
      });
      turn(best);
    });
    if (!kept.exact) {
      const note = panel.querySelector("[data-note]");
      note.textContent = `There are many rows: counts are kept at ${truths.length} thresholds, and those of the nearest one below are shown.`;
    }
    panel.querySelector("[data-note]").hidden = kept.exact;
    update();
  };
  for (const panel of document.querySelectorAll(".threshold")) startThreshold(panel);

  // One case: inputs, the truths of every node, the answer.
  const startCase = () => {
    const start = document.getElementById("start");
    const places = [...document.querySelectorAll(".input")];
    const answer = document.getElementById("answer");
    const detail = document.getElementById("detail");
    const notice = document.getElementById("notice");
    const nodes = new Map();
    for (const each of document.querySelectorAll("g[data-path]")) {
      nodes.set(`${each.dataset.tree}:${each.dataset.path}`, [each, each.querySelector(".fill"), each.querySelector(".figure")]);
    }
    const part = (i, name) => places[i].querySelector(name);

    const put = (i, value) => {
      const input = data.inputs[i];
      if (input.options) {
        part(i, ".choice").value = String(value);
        return;
      }
      const gone = part(i, ".missing");
      if (gone) gone.checked = value === null;
      part(i, ".exact").value = value === null ? "" : String(value);
      if (value !== null) part(i, ".slider").value = String(value);
    };
    const read = (i) => {
      const input = data.inputs[i];
      if (input.options) return input.options[Number(part(i, ".choice").value)];
      const gone = part(i, ".missing");
      const text = part(i, ".exact").value;
      if (gone && gone.checked) return null;
      if (text === "") throw new RangeError("a value is not filled in");
      return Number(text);
    };
    const mark = (i, value) => {
      const input = data.inputs[i];
      const outside = !input.options && value !== null && (value < input.low || value > input.high);
      places[i].classList.toggle("outside", outside);
      for (const name of [".slider", ".exact"]) {
        if (part(i, name)) part(i, name).disabled = Boolean(part(i, ".missing") && part(i, ".missing").checked);
      }
      return outside;
    };
    const tell = (found) => {
      for (const node of found.nodes) {
        const shownAt = nodes.get(`${node.tree}:${node.path.join(".")}`);
        if (!shownAt) continue;
        const [place, fill, figure] = shownAt;
        place.dataset.truth = String(node.truth);
        fill.setAttribute("width", String(Number(fill.dataset.full) * node.truth));
        figure.textContent = node.truth.toFixed(2);
      }
      const chances = found.probabilities;
      let chosen = found.truth[0] > data.threshold ? 1 : 0;
      if (data.linked) chosen = CLASSES.findIndex((each) => Object.is(each, found.decision));
      answer.textContent = `The answer is ${data.answers[chosen]}.`;
      answer.dataset.decision = String(chosen);
      answer.dataset.truth = found.truth.map(String).join(" ");
      if (chances) answer.dataset.probability = chances.map(String).join(" ");
      if (data.several) {
        detail.textContent = data.answers.map((each, i) => `${each}: truth ${found.truth[i].toFixed(3)}, probability ${percent(chances[i])}`).join("; ");
      } else {
        const side = chosen ? "above" : "not above";
        const chance = chances ? ` The probability of ${data.answers[1]} is ${percent(chances[1])}.` : "";
        detail.textContent = `Its truth is ${found.truth[0].toFixed(3)}, ${side} the threshold ${shown(data.threshold)}.${chance}`;
      }
    };
    const update = () => {
      const row = Object.create(null); // a feature may be called anything, "__proto__" too
      let outside = 0;
      try {
        data.inputs.forEach((input, i) => {
          if (!input.options) mark(i, part(i, ".exact").value === "" ? null : Number(part(i, ".exact").value));
          row[input.name] = read(i);
          if (mark(i, row[input.name])) outside += 1;
        });
        tell(trace(row));
        notice.textContent = outside ? `${outside === 1 ? "One value lies" : `${outside} values lie`} outside what the rows given hold: nothing here checks the answer there.` : "";
      } catch (problem) {
        if (!(problem instanceof RangeError)) throw problem;
        answer.textContent = "No answer.";
        delete answer.dataset.decision;
        detail.textContent = "";
        notice.textContent = problem.message;
      }
    };
    places.forEach((place, i) => {
      const slider = part(i, ".slider");
      if (slider) {
        slider.addEventListener("input", () => {
          part(i, ".exact").value = slider.value;
          update();
        });
        part(i, ".exact").addEventListener("input", () => {
          slider.value = part(i, ".exact").value;
          update();
        });
        const gone = part(i, ".missing");
        if (gone) {
          gone.addEventListener("change", () => {
            if (!gone.checked && part(i, ".exact").value === "") part(i, ".exact").value = slider.value;
            update();
          });
        }
      } else part(i, ".choice").addEventListener("change", update);
    });
    const begin = () => {
      data.cases[Number(start.value)].values.forEach((value, i) => put(i, value));
      update();
    };
    start.addEventListener("change", begin);
    start.value = "0"; // a browser may remember another choice
    begin();
  };
  if (document.getElementById("start")) startCase();
}

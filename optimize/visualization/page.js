"use strict";
// Draws the page of a front: pairs of objectives and parallel coordinates on canvases that share one choice of
// points with the table. No library; nothing is evaluated.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { objectives, members, cloud, today, axes } = data;
  const BLUE = "#0072b2", ORANGE = "#e69f00", GREY = "#9aa3ad", PALE = "#d5dce4", INK = "#222";
  const TIMES = [[86400, "d", 172800], [3600, "h", 5400], [60, "min", 120]];
  let chosen = () => true, brushed = false;
  const boxes = []; // where pairs and axes were drawn last, in pixels of the page

  const digits = (x) => (Math.abs(x) >= 1000 ? Math.round(x).toString() : parseFloat(x.toPrecision(3)).toString());
  function human(x, unit) {
    if (unit === "s") {
      for (const [size, name, least] of TIMES) if (Math.abs(x) >= least) return `${digits(x / size)} ${name}`;
      return `${digits(x)} s`;
    }
    for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]])
      if (Math.abs(x) >= size) return digits(x / size) + letter;
    return digits(x);
  }

  // Limits of an objective's axis: the front, today and what lies near them.
  function view(k) {
    const near = members.flatMap((m) => [m.at[k] - m.error[k], m.at[k] + m.error[k]]);
    if (today) near.push(today[k]);
    let low = Math.min(...near), high = Math.max(...near);
    const span = high - low || Math.abs(high) * 0.1 || 1;
    const some = cloud.map((p) => p[k]).filter((x) => x >= low - span && x <= high + span).sort((a, b) => a - b);
    if (some.length) {
      low = Math.min(low, some[Math.floor(0.02 * (some.length - 1))]);
      high = Math.max(high, some[Math.ceil(0.98 * (some.length - 1))]);
    }
    const margin = 0.06 * (high - low || span);
    return [low - margin, high + margin];
  }

  function ticks([low, high], count) {
    const step = (high - low) / count, power = 10 ** Math.floor(Math.log10(step));
    const nice = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= step);
    const found = [];
    for (let x = Math.ceil(low / nice) * nice; x <= high; x += nice) found.push(Math.abs(x) < nice / 1e6 ? 0 : x);
    return found;
  }

  function sized(canvas, height) {
    const width = canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    return [pen, width];
  }

  function disc(pen, x, y, size, fill, line) {
    pen.beginPath();
    pen.arc(x, y, size, 0, 7);
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (line) { pen.strokeStyle = line; pen.stroke(); }
  }

  function diamond(pen, x, y, size) {
    pen.beginPath();
    pen.moveTo(x, y - size); pen.lineTo(x + size, y); pen.lineTo(x, y + size); pen.lineTo(x - size, y);
    pen.closePath();
    pen.fillStyle = ORANGE; pen.fill(); pen.strokeStyle = INK; pen.stroke();
  }

  function cross(pen, x, y) {
    pen.strokeStyle = "white"; pen.lineWidth = 5;
    for (const colour of ["white", INK]) {
      pen.strokeStyle = colour;
      pen.beginPath(); pen.moveTo(x - 7, y); pen.lineTo(x + 7, y); pen.moveTo(x, y - 7); pen.lineTo(x, y + 7); pen.stroke();
      pen.lineWidth = 2.4;
    }
    pen.lineWidth = 1;
  }

  function arrow(pen, x0, y0, x1, y1) {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 8) return;
    const ux = (x1 - x0) / length, uy = (y1 - y0) / length, tx = x1 - 5 * ux, ty = y1 - 5 * uy;
    pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(tx, ty);
    pen.moveTo(tx - 5 * ux - 3 * uy, ty - 5 * uy + 3 * ux); pen.lineTo(tx, ty); pen.lineTo(tx - 5 * ux + 3 * uy, ty - 5 * uy - 3 * ux);
    pen.stroke();
  }

  const pairs = document.getElementById("pairs"), lines = document.getElementById("lines");
  let drag = null;

  function drawPairs() {
    const count = objectives.length, across = Math.max(count - 1, 1);
    const width = pairs.parentElement.clientWidth, side = width / across;
    const height = count < 3 ? Math.min(440, side * 0.75) : side * 0.82;
    const [pen] = sized(pairs, Math.round(height * across));
    boxes.length = 0;
    const views = objectives.map((_, k) => view(k));
    if (count === 1) panel(pen, null, 0, 0, 0, side, height, views);
    for (let row = 1; row < count; row++)
      for (let column = 0; column < row; column++)
        panel(pen, column, row, column * side, (row - 1) * height, side, height, views);
  }

  function panel(pen, a, b, left, top, side, height, views) {
    const box = { left: left + 66, top: top + 8, width: side - 78, height: height - 48, a, b };
    const numbers = members.map((m) => m.number);
    const xs = a === null ? [Math.min(...numbers) - 1, Math.max(...numbers) + 1] : views[a], ys = views[b];
    box.x = (v) => box.left + ((v - xs[0]) / (xs[1] - xs[0])) * box.width;
    box.y = (v) => box.top + box.height - ((v - ys[0]) / (ys[1] - ys[0])) * box.height;
    box.across = (m) => box.x(a === null ? m.number : m.at[a]);
    boxes.push(box);
    pen.lineWidth = 1; pen.strokeStyle = "#eee"; pen.fillStyle = "#555"; pen.textAlign = "center";
    for (const v of ticks(xs, Math.max(2, box.width / 75))) {
      pen.beginPath(); pen.moveTo(box.x(v), box.top); pen.lineTo(box.x(v), box.top + box.height); pen.stroke();
      pen.fillText(human(v, a === null ? "" : objectives[a].unit), box.x(v), box.top + box.height + 14);
    }
    pen.textAlign = "right";
    for (const v of ticks(ys, Math.max(2, box.height / 45))) {
      pen.beginPath(); pen.moveTo(box.left, box.y(v)); pen.lineTo(box.left + box.width, box.y(v)); pen.stroke();
      pen.fillText(human(v, objectives[b].unit), box.left - 5, box.y(v) + 4);
    }
    pen.fillStyle = INK; pen.textAlign = "center";
    pen.fillText(a === null ? "number of the evaluation" : objectives[a].label, box.left + box.width / 2, box.top + box.height + 31);
    pen.save(); pen.translate(left + 11, box.top + box.height / 2); pen.rotate(-Math.PI / 2);
    pen.fillText(objectives[b].label, 0, 0); pen.restore();
    pen.save();
    pen.beginPath(); pen.rect(box.left, box.top, box.width, box.height); pen.clip();
    if (a !== null) {
      pen.fillStyle = GREY; pen.globalAlpha = cloud.length > 500 ? 0.3 : 0.5;
      for (const p of cloud) pen.fillRect(box.x(p[a]) - 1.3, box.y(p[b]) - 1.3, 2.6, 2.6);
      pen.globalAlpha = 1;
    }
    for (const [at, m] of members.entries()) {
      const x = box.across(m), y = box.y(m.at[b]), on = chosen(m, at);
      if (!m.kept && !(brushed && on)) continue; // of a hundred points that fell, bars hide all others
      pen.globalAlpha = on ? 0.6 : 0.12; pen.strokeStyle = BLUE; pen.lineWidth = 0.8;
      pen.beginPath(); pen.moveTo(x, box.y(m.at[b] - m.error[b])); pen.lineTo(x, box.y(m.at[b] + m.error[b]));
      if (a !== null) { pen.moveTo(box.x(m.at[a] - m.error[a]), y); pen.lineTo(box.x(m.at[a] + m.error[a]), y); }
      pen.stroke();
      if (data.validated && a !== null) { pen.strokeStyle = "#777"; arrow(pen, box.x(m.before[a]), box.y(m.before[b]), x, y); }
      pen.globalAlpha = 1;
    }
    pen.lineWidth = 1;
    for (const late of [false, true])
      for (const [at, m] of members.entries()) {
        if (Boolean(m.chosen) !== late) continue;
        const x = box.across(m), y = box.y(m.at[b]), on = chosen(m, at);
        if (m.chosen && on) diamond(pen, x, y, 7);
        else disc(pen, x, y, 3.8, on ? (m.kept ? BLUE : "white") : PALE, on ? BLUE : "#c3cbd4");
      }
    if (today && a !== null) {
      cross(pen, box.x(today[a]), box.y(today[b]));
      const side = box.x(today[a]) + 9 + pen.measureText("today").width > box.left + box.width ? -1 : 1;
      pen.fillStyle = INK; pen.textAlign = side > 0 ? "left" : "right";
      pen.fillText("today", box.x(today[a]) + side * 9, box.y(today[b]) - 7);
    }
    pen.restore();
    pen.strokeStyle = "#ddd"; pen.strokeRect(box.left, box.top, box.width, box.height);
    if (drag && drag.box && drag.box.a === a && drag.box.b === b) {
      pen.fillStyle = "#0072b222"; pen.strokeStyle = BLUE;
      const rect = [Math.min(drag.x0, drag.x1), Math.min(drag.y0, drag.y1), Math.abs(drag.x1 - drag.x0), Math.abs(drag.y1 - drag.y0)];
      pen.fillRect(...rect); pen.strokeRect(...rect);
    }
  }

  // Axes of the parallel picture: parameters that vary, then objectives with the better end up.
  const scales = axes.map((one) => ({ ...one }));
  for (const [k, o] of objectives.entries()) {
    const values = members.map((m) => m.at[k]), low = Math.min(...values), high = Math.max(...values);
    const share = (v) => (high === low ? 0.5 : (o.down ? high - v : v - low) / (high - low));
    const ends = high === low ? [[0.5, human(low, o.unit)]] : [low, high].map((v) => [share(v), human(v, o.unit)]);
    scales.push({ label: o.label, about: o.label, at: values.map(share), ticks: ends });
  }

  function drawLines() {
    const [pen, width] = sized(lines, 300);
    const left = 14, gap = (width - left - 80) / Math.max(scales.length - 1, 1), top = 46, height = 236;
    for (const [k, scale] of scales.entries()) scale.x = left + k * gap;
    const y = (v) => top + height - v * height;
    for (const late of [false, true])
      for (const [at, m] of members.entries()) {
        const on = chosen(m, at);
        if (Boolean(m.chosen && on) !== late) continue;
        pen.strokeStyle = m.chosen ? ORANGE : BLUE; pen.lineWidth = m.chosen ? 2 : 1;
        pen.globalAlpha = on ? (m.chosen ? 1 : members.length > 60 ? 0.35 : 0.6) : 0.05;
        pen.beginPath();
        let open = false;
        for (const scale of scales) {
          const v = scale.at[at];
          if (v === null) { open = false; continue; }
          if (open) pen.lineTo(scale.x, y(v)); else pen.moveTo(scale.x, y(v));
          open = true;
        }
        pen.stroke();
        pen.fillStyle = pen.strokeStyle;
        for (const scale of scales) if (scale.at[at] !== null) pen.fillRect(scale.x - 2, y(scale.at[at]) - 2, 4, 4);
      }
    pen.globalAlpha = 1; pen.lineWidth = 1;
    for (const [k, scale] of scales.entries()) {
      pen.strokeStyle = "#bbb";
      pen.beginPath(); pen.moveTo(scale.x, top); pen.lineTo(scale.x, top + height); pen.stroke();
      pen.textAlign = "left"; pen.fillStyle = "#444"; pen.font = "11px system-ui, sans-serif";
      for (const [at, text] of scale.ticks) {
        pen.lineWidth = 3; pen.strokeStyle = "white";
        const shown = fit(pen, text, gap - 8);
        pen.strokeText(shown, scale.x + 5, y(at) + 4); pen.fillText(shown, scale.x + 5, y(at) + 4); pen.lineWidth = 1;
      }
      pen.fillStyle = INK;
      const words = broken(pen, scale.label, Math.min(gap - 8, width - scale.x - 2));
      words.forEach((word, row) => pen.fillText(word, scale.x, top - 8 - 13 * (words.length - 1 - row)));
      if (drag && drag.axis === k) { pen.fillStyle = "#0072b233"; pen.fillRect(scale.x - 6, Math.min(drag.y0, drag.y1), 12, Math.abs(drag.y1 - drag.y0)); }
    }
  }

  function fit(pen, text, width) {
    if (pen.measureText(text).width <= width) return text;
    let end = text.length;
    while (end > 1 && pen.measureText(text.slice(0, end) + "…").width > width) end--;
    return text.slice(0, end) + "…";
  }

  // A label on at most three lines, broken at dots, underscores and blanks.
  function broken(pen, text, width) {
    const found = [""];
    for (const part of text.match(/[^._ ]+[._ ]?|[._ ]/g) || [text]) {
      const last = found[found.length - 1];
      if (last && pen.measureText(last + part).width > width && found.length < 3) found.push(part);
      else found[found.length - 1] = last + part;
    }
    return found.map((line) => fit(pen, line, width));
  }

  const rows = [...document.querySelectorAll("#points tbody tr")];
  function choose(rule) {
    chosen = rule;
    const on = new Set(members.filter((m, at) => rule(m, at)).map((m) => m.number));
    for (const row of rows) row.classList.toggle("hidden", Number(row.dataset.number) >= 0 && !on.has(Number(row.dataset.number)));
    brushed = on.size < members.length;
    document.getElementById("count").textContent = brushed ? `${on.size} of ${members.length} chosen` : "";
    draw();
  }
  function draw() { drawPairs(); drawLines(); }

  function place(canvas, event) {
    const rect = canvas.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  }
  const within = (v, a, b) => v >= Math.min(a, b) && v <= Math.max(a, b);

  pairs.addEventListener("pointerdown", (event) => {
    const [x, y] = place(pairs, event);
    const box = boxes.find((one) => within(x, one.left, one.left + one.width) && within(y, one.top, one.top + one.height));
    if (box) { drag = { box, x0: x, y0: y, x1: x, y1: y }; pairs.setPointerCapture(event.pointerId); }
  });
  pairs.addEventListener("pointermove", (event) => {
    const [x, y] = place(pairs, event);
    if (!drag || !drag.box) { tell(event, nearest(x, y)); return; }
    drag.x1 = x; drag.y1 = y;
    const { a, b } = drag.box;
    const box = boxes.find((one) => one.a === a && one.b === b), seen = { ...drag };
    if (Math.hypot(x - drag.x0, y - drag.y0) < 4) return;
    choose((m) => within(box.across(m), seen.x0, seen.x1) && within(box.y(m.at[b]), seen.y0, seen.y1));
  });
  lines.addEventListener("pointerdown", (event) => {
    const [x, y] = place(lines, event);
    const k = scales.findIndex((scale) => Math.abs(scale.x - x) < 14);
    if (k >= 0) { drag = { axis: k, y0: y, y1: y }; lines.setPointerCapture(event.pointerId); }
  });
  lines.addEventListener("pointermove", (event) => {
    if (!drag || drag.axis === undefined) return;
    const [, y] = place(lines, event);
    drag.y1 = y;
    const scale = scales[drag.axis], from = (282 - drag.y0) / 236, to = (282 - y) / 236;
    if (Math.abs(drag.y1 - drag.y0) > 3) choose((m, at) => scale.at[at] !== null && within(scale.at[at], from, to));
  });
  for (const canvas of [pairs, lines]) {
    canvas.addEventListener("pointerup", () => { drag = null; draw(); });
    canvas.addEventListener("dblclick", () => { drag = null; choose(() => true); });
    canvas.addEventListener("pointerleave", () => tell(null, null));
  }

  function nearest(x, y) {
    let best = null, least = 12;
    for (const box of boxes)
      for (const m of members) {
        const far = Math.hypot(box.across(m) - x, box.y(m.at[box.b]) - y);
        if (far < least) { least = far; best = m; }
      }
    return best;
  }
  const tip = document.getElementById("tip");
  function tell(event, m) {
    tip.style.display = m ? "block" : "none";
    if (!m) return;
    const said = [`point ${m.number}${m.chosen ? `: ${m.chosen}` : ""} (${m.today ? "today's setting" : m.standing})`];
    objectives.forEach((o, k) => said.push(`${o.label.replace(/ [↑↓]$/, "")}: ${m.text[k]}`));
    said.push(...m.settings);
    tip.replaceChildren(...said.map((line) => { const div = document.createElement("div"); div.textContent = line; return div; }));
    tip.style.left = `${Math.min(event.pageX + 14, document.documentElement.clientWidth - 345)}px`;
    tip.style.top = `${event.pageY + 12}px`;
  }

  window.addEventListener("resize", draw);
  draw();
})();

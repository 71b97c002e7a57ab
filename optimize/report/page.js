"use strict";
// Draws the page of a front: a scatter matrix and parallel coordinates, in which one points at configurations.
(() => {
  const { names, states, chosen, places, objectives, parameters, settings } = JSON.parse(document.getElementById("data").textContent);
  const lettered = names.map((name) => /^[A-Z]$/.test(name));
  // What is drawn later lies on top: dominated, front, baseline, recommendations.
  const rank = names.map((_, k) => (lettered[k] ? 3 : { dominated: 0, front: 1, baseline: 2 }[states[k]] ?? 0));
  const order = names.map((_, k) => k).sort((a, b) => rank[a] - rank[b]);
  const base = states.indexOf("baseline");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const text = (x) => (Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : String(parseFloat(x.toPrecision(3))));

  // A canvas and, above it, one for what is pointed at.
  function plot(id) {
    const room = document.getElementById(id), layers = ["", "over"].map((kind) => {
      const canvas = document.createElement("canvas");
      canvas.className = kind;
      return room.appendChild(canvas);
    });
    return { room, size(width, height) {
      const ratio = window.devicePixelRatio || 1;
      return layers.map((canvas) => {
        canvas.width = width * ratio; canvas.height = height * ratio;
        canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
        const pen = canvas.getContext("2d");
        pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        pen.font = "12px system-ui, sans-serif";
        return pen;
      });
    } };
  }

  function mark(pen, x, y, k) {
    pen.lineWidth = 1;
    if (k === base) {
      pen.strokeStyle = colour("ink"); pen.lineWidth = 3;
      pen.beginPath(); pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y + 5); pen.moveTo(x - 5, y + 5); pen.lineTo(x + 5, y - 5); pen.stroke();
      return;
    }
    pen.fillStyle = colour(lettered[k] ? "orange" : rank[k] ? "blue" : "grey");
    pen.globalAlpha = rank[k] ? 1 : names.length > 1000 ? 0.25 : 0.45;
    pen.beginPath(); pen.arc(x, y, lettered[k] ? 9 : rank[k] ? 4 : 2, 0, 7); pen.fill();
    pen.globalAlpha = 1;
    if (lettered[k]) {
      pen.fillStyle = "#222"; pen.textAlign = "center"; pen.textBaseline = "middle";
      pen.fillText(names[k], x, y + 0.5);
    }
  }

  function ticks([low, high], count) {
    const step = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(step));
    const nice = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= step), found = [];
    for (let x = Math.ceil(low / nice) * nice; x <= high; x += nice) found.push(Math.abs(x) < nice / 1e6 ? 0 : x);
    return found;
  }

  // A label in lines of at most so many pixels.
  function lines(pen, label, width) {
    const made = [""];
    for (const part of label.match(/[^ ._]+[ ._]?|[ ._]/g)) {
      if (made.at(-1) && pen.measureText(made.at(-1) + part).width > width) made.push("");
      made[made.length - 1] += part;
    }
    return made;
  }
  const stacked = (pen, some, x, y) => some.forEach((line, k) => pen.fillText(line, x, y + 14 * k));

  const pairs = plot("pairs"), parallel = plot("lines");
  let boxes = [], scales = [], over = [];

  function panel(pen, box, a, b) {
    const across = a === null ? places : objectives[a], up = objectives[b], xs = across.view, ys = up.view;
    const px = (v) => box.x + ((v - xs[0]) / (xs[1] - xs[0])) * box.w, py = (v) => box.y + box.h - ((v - ys[0]) / (ys[1] - ys[0])) * box.h;
    pen.save();
    pen.beginPath(); pen.rect(box.x, box.y, box.w, box.h); pen.clip();
    if (base >= 0 && a !== null) {
      const [x, y] = [px(across.at[base]), py(up.at[base])];
      pen.fillStyle = colour("better");
      const left = across.down ? box.x : x, right = across.down ? x : box.x + box.w, top = up.down ? y : box.y, foot = up.down ? box.y + box.h : y;
      pen.fillRect(left, top, right - left, foot - top);
    }
    pen.restore();
    pen.strokeStyle = colour("line"); pen.fillStyle = colour("soft"); pen.lineWidth = 1;
    pen.textAlign = "center"; pen.textBaseline = "alphabetic";
    for (const v of ticks(xs, box.w / 75)) {
      pen.beginPath(); pen.moveTo(px(v), box.y); pen.lineTo(px(v), box.y + box.h); pen.stroke();
      pen.fillText(text(v), px(v), box.y + box.h + 14);
    }
    pen.textAlign = "right";
    for (const v of ticks(ys, box.h / 45)) {
      pen.beginPath(); pen.moveTo(box.x, py(v)); pen.lineTo(box.x + box.w, py(v)); pen.stroke();
      pen.fillText(text(v), box.x - 5, py(v) + 4);
    }
    pen.fillStyle = colour("ink"); pen.textAlign = "center";
    stacked(pen, lines(pen, across.label, box.w), box.x + box.w / 2, box.y + box.h + 30);
    pen.save(); pen.translate(box.x - 62, box.y + box.h / 2); pen.rotate(-Math.PI / 2);
    stacked(pen, lines(pen, up.label, box.h), 0, 0); pen.restore();
    pen.save(); pen.beginPath(); pen.rect(box.x, box.y, box.w, box.h); pen.clip();
    for (const k of order) mark(pen, px(across.at[k]), py(up.at[k]), k);
    pen.restore();
    boxes.push({ ...box, place: (k) => [px(across.at[k]), py(up.at[k])] });
  }

  function legend(pen, x, y) {
    const entries = [[states.findIndex((one, k) => one === "front" && !lettered[k]), "Pareto front"], [base, "baseline"], [names.findIndex((_, k) => lettered[k]), "recommended"], [states.findIndex((one, k) => one === "dominated" && !lettered[k]), "dominated"]];
    pen.textAlign = "left";
    for (const [k, label] of entries.filter(([k]) => k >= 0)) {
      mark(pen, x + 10, y, k);
      pen.fillStyle = colour("ink"); pen.textAlign = "left"; pen.textBaseline = "middle"; pen.fillText(label, x + 26, y);
      y += 24;
    }
    if (base < 0) return;
    pen.fillStyle = colour("better"); pen.fillRect(x + 2, y - 7, 16, 14); pen.strokeStyle = colour("line"); pen.strokeRect(x + 2, y - 7, 16, 14);
    pen.fillStyle = colour("ink"); pen.fillText("better than baseline", x + 26, y);
  }

  function drawPairs() {
    const count = objectives.length, width = pairs.room.clientWidth, room = [78, 62];
    const every = [];
    for (let row = 1; row < count; row++) for (let column = 0; column < row; column++) every.push([column, row]);
    if (count === 1) every.push([null, 0]);
    const narrow = width < 300 * (count - 1), across = narrow ? 1 : Math.max(count - 1, 1);
    // The legend stands in the empty corner of a matrix, else above.
    const above = across < 2 ? 130 : 0, side = Math.min(width / across, 560), high = Math.min(side * 0.8, 400);
    const down = narrow ? every.length : Math.max(count - 1, 1);
    const [pen, top] = pairs.size(width, above + high * down);
    boxes = []; over[0] = top;
    every.forEach(([a, b], k) => {
      const [column, row] = narrow || count === 1 ? [0, k] : [a, b - 1];
      panel(pen, { x: column * side + room[0], y: above + row * high + 8, w: side - room[0] - 12, h: high - room[1] - 8 }, a, b);
    });
    legend(pen, above ? 0 : (count - 2) * side + room[0], above ? 12 : 20);
  }

  function drawLines() {
    scales = [...parameters, ...objectives.map((one) => {
      const shown = one.at.filter((_, k) => chosen[k]), low = Math.min(...shown), high = Math.max(...shown);
      const share = (v) => (high === low ? 0.5 : (one.down ? high - v : v - low) / (high - low));
      return { label: one.label, at: one.at.map(share), ticks: [...new Set([low, high])].map((v) => [share(v), text(v)]) };
    })];
    const gap = Math.max(88, Math.min(170, (parallel.room.parentElement.clientWidth - 60) / scales.length));
    const [pen, top] = parallel.size(gap * scales.length + 34, 320);
    over[1] = top;
    scales.forEach((scale, k) => { scale.x = gap * (k + 0.5); });
    pen.fillStyle = colour("pale");
    pen.fillRect(scales[parameters.length].x - gap / 2, 0, gap * objectives.length + 20, 262);
    for (const k of order) if (chosen[k]) line(pen, k, k === base ? "ink" : lettered[k] ? "orange" : "blue", rank[k] > 1 ? 2.4 : 1, rank[k] > 1 ? 1 : 0.45);
    for (const scale of scales) {
      pen.strokeStyle = colour("soft"); pen.lineWidth = 1;
      pen.beginPath(); pen.moveTo(scale.x, 14); pen.lineTo(scale.x, 252); pen.stroke();
      pen.textAlign = "left"; pen.textBaseline = "middle";
      for (const [at, label] of scale.ticks) {
        pen.fillStyle = colour("paper"); pen.globalAlpha = 0.8;
        pen.fillRect(scale.x + 4, height(at) - 8, pen.measureText(label).width + 6, 16);
        pen.globalAlpha = 1; pen.fillStyle = colour("ink"); pen.fillText(label, scale.x + 7, height(at));
      }
      pen.textAlign = "center"; pen.textBaseline = "alphabetic"; pen.fillStyle = colour("ink");
      stacked(pen, lines(pen, scale.label, gap - 8), scale.x, 270);
    }
    const last = scales.at(-1);
    for (const k of order) if (lettered[k]) mark(pen, last.x, height(last.at[k]), k);
  }
  const height = (share) => 244 - 222 * share;

  function line(pen, k, name, width, alpha) {
    pen.strokeStyle = colour(name); pen.lineWidth = width; pen.globalAlpha = alpha;
    pen.beginPath();
    let open = false;
    for (const scale of scales) {
      const at = scale.at[k];
      if (at === null) { open = false; continue; }
      if (open) pen.lineTo(scale.x, height(at)); else pen.moveTo(scale.x, height(at));
      open = true;
    }
    pen.stroke();
    pen.fillStyle = pen.strokeStyle;
    for (const scale of scales) if (scale.at[k] !== null) pen.fillRect(scale.x - 2, height(scale.at[k]) - 2, 4, 4);
    pen.globalAlpha = 1;
  }

  const tip = document.getElementById("tip");
  function show(k, event) {
    for (const pen of over) pen.clearRect(0, 0, 1e5, 1e5);
    tip.style.display = k === null ? "none" : "block";
    if (k === null) return;
    for (const box of boxes) {
      const [x, y] = box.place(k), [pen] = over;
      if (x < box.x || x > box.x + box.w || y < box.y || y > box.y + box.h) continue;
      pen.strokeStyle = colour("ink"); pen.lineWidth = 2; pen.beginPath(); pen.arc(x, y, lettered[k] ? 11 : 6, 0, 7); pen.stroke();
    }
    line(over[1], k, "ink", 2.5, 1);
    const name = k === base ? "baseline" : lettered[k] ? `${names[k]} (recommended)` : `no. ${names[k]} (${states[k] === "front" ? "Pareto front" : states[k]})`;
    tip.textContent = [name, ...objectives.map((one) => `${one.label.replace(/\s[↑↓]$/, "")}: ${text(one.at[k])}`), settings[k]].filter(Boolean).join("\n");
    tip.style.left = `${Math.max(4, Math.min(event.pageX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.pageY + 14}px`;
  }
  function nearest(distance, some) {
    let best = null, least = 14;
    for (const k of some) {
      const far = distance(k) - rank[k] / 10;
      if (far < least) { least = far; best = k; }
    }
    return best;
  }
  const place = (event, room) => { const at = room.getBoundingClientRect(); return [event.clientX - at.left, event.clientY - at.top]; };
  pairs.room.addEventListener("pointermove", (event) => {
    const [x, y] = place(event, pairs.room), box = boxes.find((one) => x >= one.x && x <= one.x + one.w && y >= one.y && y <= one.y + one.h);
    show(box ? nearest((k) => Math.hypot(box.place(k)[0] - x, box.place(k)[1] - y), order) : null, event);
  });
  parallel.room.addEventListener("pointermove", (event) => {
    const [x, y] = place(event, parallel.room), scale = scales.reduce((a, b) => (Math.abs(a.x - x) < Math.abs(b.x - x) ? a : b));
    show(nearest((k) => (scale.at[k] === null ? Infinity : Math.abs(height(scale.at[k]) - y)), order.filter((k) => chosen[k])), event);
  });
  for (const { room } of [pairs, parallel]) room.addEventListener("pointerleave", (event) => show(null, event));

  const draw = () => { drawPairs(); drawLines(); };
  window.addEventListener("resize", draw);
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", draw);
  draw();
})();

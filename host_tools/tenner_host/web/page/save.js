// Files from what a browser shows.
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The rows of readings.csv between two times, of some names.
export function rowsBetween(text, [first, last], names) {
  const [head, ...rows] = text.split("\n").filter(Boolean);
  const wanted = new Set(names);
  const kept = rows.filter((row) => {
    const [, time, name] = row.match(/^([^,]*),"((?:[^"]|"")*)",/) || [];
    const at = Date.parse(time) / 1000;
    return wanted.has(name?.replaceAll('""', '"')) && at >= first && at <= last;
  });
  return [head, ...kept, ""].join("\n");
}

const HEAD = 44;
const SCALE = 2;

// The pictures below each other, each with its name and the names of its curves.
export function png(sections) {
  const pictures = sections.map((one) => one.querySelector("svg"));
  const height = (one) => Number(one.getAttribute("height")) + HEAD;
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * Math.max(...pictures.map((one) => Number(one.getAttribute("width"))));
  canvas.height = SCALE * pictures.reduce((sum, one) => sum + height(one), 0);
  const to = canvas.getContext("2d");
  to.scale(SCALE, SCALE);
  to.fillStyle = getComputedStyle(sections[0]).backgroundColor;
  to.fillRect(0, 0, canvas.width, canvas.height);
  sections.forEach((section, place) => {
    to.save();
    caption(to, section);
    to.translate(0, HEAD);
    for (const one of pictures[place].children) shape(to, one);
    to.restore();
    to.translate(0, height(pictures[place]));
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function caption(to, section) {
  to.font = "600 15px system-ui, sans-serif";
  to.fillStyle = getComputedStyle(section).color;
  to.fillText(section.getAttribute("aria-label"), 12, 18);
  to.font = "12px system-ui, sans-serif";
  let x = 12;
  for (const one of section.querySelectorAll(".key")) {
    const name = one.parentNode.textContent.trim();
    to.fillStyle = getComputedStyle(one).borderTopColor;
    to.fillText(name, x, 36);
    x += to.measureText(name).width + 16;
  }
}

function shape(to, one) {
  const { fill, stroke, strokeWidth, strokeDasharray, opacity, font } = getComputedStyle(one);
  const n = (name) => Number(one.getAttribute(name));
  to.globalAlpha = Number(opacity);
  to.strokeStyle = stroke;
  to.fillStyle = fill;
  to.lineWidth = parseFloat(strokeWidth) || 1;
  to.setLineDash(strokeDasharray === "none" ? [] : strokeDasharray.split(",").map(parseFloat));
  if (one.tagName === "text") {
    to.font = font;
    to.textAlign = { end: "right", middle: "center" }[one.getAttribute("text-anchor")] || "left";
    to.fillText(one.textContent, n("x"), n("y"));
  } else if (one.tagName === "rect") to.fillRect(n("x"), n("y"), n("width"), n("height"));
  else if (one.tagName === "path") to.stroke(new Path2D(one.getAttribute("d")));
  else if (one.getAttribute("class") !== "cursor") to.stroke(new Path2D(`M${n("x1")} ${n("y1")}L${n("x2")} ${n("y2")}`));
}

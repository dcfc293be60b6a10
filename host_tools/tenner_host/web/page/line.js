// The line of a curve: it ends where readings are missing.
import { s } from "./dom.js";

const GAP = 2.5;
const DAY_S = 86400;
// A server sends at most two points of each of these spans; so longer ones are no gap.
const MANY = 28;
const THINNED_S = 10200;
// A limit is drawn unless it would flatten the curve to less than this part of the height.
const LEAST = 1 / 3;

// Readings of 0 and 1 without a unit.
export const isSwitch = (one) => !one.unit && one.points.every((point) => point[1] === 0 || point[1] === 1);

// Seconds without a reading that are a gap.
export function gapOf(points) {
  const distances = points.slice(1).map((one, place) => one[0] - points[place][0]).sort((one, other) => one - other);
  return GAP * (distances[Math.floor(distances.length / 2)] || 0);
}

// The range with the limits that do not flatten the curve.
export function withLimits(low, high, limits) {
  const drawn = limits.filter((limit) => (high - low) / (Math.max(high, limit) - Math.min(low, limit)) >= LEAST);
  return [Math.min(low, ...drawn), Math.max(high, ...drawn)];
}

export function path(points, x, y, steps, gap) {
  return points.map(([at, value], place) => {
    const before = points[place - 1];
    const spot = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!before || (gap && at - before[0] > gap)) return `M${spot}h.01`;
    return steps ? `H${x(at).toFixed(1)}V${y(value).toFixed(1)}` : `L${spot}`;
  }).join("");
}

// A value's last day up to `now`, with its gaps and with the limits of its alarms.
export function sparkline(one, label, limits, now) {
  const picture = s("svg", { class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img", "aria-label": label });
  if (!one.points.length) return picture;
  // A board's clock may have been set back.
  const points = [...one.points].sort((a, b) => a[0] - b[0]);
  const values = points.map((point) => point[1]);
  const last = Math.max(now, points[points.length - 1][0]);
  const first = Math.max(points[0][0], last - DAY_S);
  let [low, high] = [Math.min(...values), Math.max(...values)];
  // Noise does not fill the picture.
  const least = isSwitch(one) ? 1 : Math.max(Math.abs(high) * 0.02, 0.2);
  if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
  [low, high] = withLimits(low, high, limits);
  const drawn = limits.filter((limit) => low <= limit && limit <= high);
  const x = (at) => ((at - first) / (last - first || 1)) * 100;
  const y = (value) => 28 - ((value - low) / (high - low)) * 26;
  for (const limit of drawn) picture.append(s("line", { class: "limit", x1: 0, x2: 100, y1: y(limit).toFixed(1), y2: y(limit).toFixed(1) }));
  const gap = Math.max(gapOf(points), points.length > MANY ? THINNED_S : 0);
  picture.append(s("path", { d: path(points, x, y, isSwitch(one), gap) }));
  return picture;
}

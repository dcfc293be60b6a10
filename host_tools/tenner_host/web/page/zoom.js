// Zoom and pan through time, by mouse, touch and keys. The pictures are drawn anew meanwhile, so all of it is at their box.
const LEAST_S = 60;
const DRAG = 8;
const KEYS = { ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25], "+": [0.5, 0], "=": [0.5, 0], "-": [2, 0] };

// `view`: {range(), extent(), edges() in pixels, change(range or null)}.
export function zoomable(box, view) {
  const pointers = new Map();
  // Where a gesture began: its range, the middle of its fingers and the way between them.
  let start = null;
  let from = null;

  function to(first, last) {
    const [low, high] = view.extent();
    const wide = Math.min(Math.max(last - first, LEAST_S), high - low);
    const begin = Math.min(Math.max(first, low), high - wide);
    view.change(wide >= high - low ? null : [begin, begin + wide]);
  }

  function zoom(factor, shift = 0, at = null) {
    const [first, last] = view.range();
    const wide = last - first;
    const middle = at ?? (first + last) / 2;
    const left = middle - (middle - first) * factor + shift * wide;
    to(left, left + wide * factor);
  }

  const x = (event) => event.clientX - box.querySelector("svg").getBoundingClientRect().left;

  function timeAt(px, [first, last] = view.range()) {
    const [left, right] = view.edges();
    return first + ((px - left) / (right - left)) * (last - first);
  }

  function measure() {
    const xs = [...pointers.values()];
    return [xs.reduce((sum, one) => sum + one, 0) / xs.length, xs.length > 1 ? Math.max(Math.abs(xs[0] - xs[1]), 20) : 0];
  }

  const begin = () => {
    if (!pointers.size) start = null;
    else start = { range: view.range(), at: measure() };
  };

  function band(first, width) {
    for (const one of box.querySelectorAll(".band")) {
      one.setAttribute("x", first);
      one.setAttribute("width", width);
    }
  }

  box.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("svg") || event.button) return;
    box.setPointerCapture(event.pointerId);
    if (event.pointerType === "mouse" && !event.shiftKey) from = x(event);
    else {
      pointers.set(event.pointerId, x(event));
      begin();
    }
  });
  box.addEventListener("pointermove", (event) => {
    if (from != null) band(Math.min(from, x(event)), Math.abs(x(event) - from));
    if (!start || !pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, x(event));
    const [middle, way] = measure();
    const [was, wasWay] = start.at;
    const [first, last] = start.range;
    const factor = way ? wasWay / way : 1;
    // The time that was under the fingers stays there.
    const [left, right] = view.edges();
    const wide = (last - first) * factor;
    const begun = timeAt(was, start.range) - ((middle - left) / (right - left)) * wide;
    to(begun, begun + wide);
  });
  const end = (event) => {
    if (from != null && event.type === "pointerup" && Math.abs(x(event) - from) > DRAG) to(timeAt(Math.min(from, x(event))), timeAt(Math.max(from, x(event))));
    from = null;
    band(0, 0);
    pointers.delete(event.pointerId);
    begin();
  };
  box.addEventListener("pointerup", end);
  box.addEventListener("pointercancel", end);
  box.addEventListener("wheel", (event) => {
    // Without Ctrl a wheel scrolls the page; two fingers on a pad come with it.
    if (!event.target.closest("svg") || !(event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) return;
    event.preventDefault();
    if (event.ctrlKey) zoom(2 ** (Math.max(-300, Math.min(300, event.deltaY)) / 300), 0, timeAt(x(event)));
    else zoom(1, (event.deltaX || event.deltaY) / 1000);
  }, { passive: false });
  box.addEventListener("keydown", (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0") view.change(null);
    else if (KEYS[event.key]) zoom(...KEYS[event.key]);
    else return;
    event.preventDefault();
  });
  return zoom;
}

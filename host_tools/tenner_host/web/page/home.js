// What a phone's home screen takes: the board's name, the mark and the colors.
const { pathname, origin } = location;
const HERE = origin + pathname.replace(/[^/]*$/, "");
const link = document.createElement("link");
link.rel = "manifest";

// The name is for paired browsers alone, so that no server has a file with it.
export function offer(name) {
  const colors = getComputedStyle(document.documentElement);
  const icon = { src: HERE + "icon.svg", sizes: "any", type: "image/svg+xml" };
  const manifest = { name, short_name: name, id: HERE, start_url: HERE, scope: HERE, display: "standalone",
    theme_color: colors.getPropertyValue("--card").trim(), background_color: colors.getPropertyValue("--back").trim(),
    icons: [{ ...icon, purpose: "any" }, { ...icon, purpose: "maskable" }] };
  const made = "data:application/manifest+json," + encodeURIComponent(JSON.stringify(manifest));
  if (link.href === made) return;
  link.href = made;
  document.head.append(link);
}

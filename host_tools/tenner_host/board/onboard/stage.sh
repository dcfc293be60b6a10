# Makes a new release beside the others, from its unchanged files and from standard input: the names of the files to
# remove, a line for each, an empty line, and the new files (tar.gz).
# usage: stage BASE NAME
set -e
export LC_ALL=C
base=$1 stage=$1/releases/$2.tmp target=$1/releases/$2
mkdir -p "$base/releases"
rm -rf "$base"/releases/*.tmp
trap 'rm -rf "$stage"' EXIT
if [ -d "$base/current" ]; then
    # Links to the same files: they take no room.
    mkdir "$stage"
    cp -al "$base/current/." "$stage" 2>/dev/null || cp -a "$base/current/." "$stage"
    find "$stage" -name __pycache__ -prune -exec rm -rf {} +
else
    mkdir "$stage"
fi
cd "$stage"
while IFS= read -r file && [ -n "$file" ]; do rm -f -- "$file"; done
gzip -dc | tar -xf -
find . -depth -type d -exec rmdir {} + 2>/dev/null || true
sha256sum -c SHA256SUMS >/dev/null
sync
if [ -d "$target" ]; then mv "$target" "$target.old.tmp"; fi
cd "$base"
mv "$stage" "$target"
sync
trap - EXIT

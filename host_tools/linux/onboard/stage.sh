# A new release beside the others from the files on standard input (tar.gz) and those that stay as they are.
# usage: stage BASE NAME FILE-THAT-GOES...
set -e
export LC_ALL=C
base=$1 stage=$1/releases/$2.tmp target=$1/releases/$2
shift 2
mkdir -p "$base/releases"
rm -rf "$base"/releases/*.tmp
trap 'rm -rf "$stage"' EXIT
if [ -d "$base/current" ]; then
    # The same files under another name: they take no room.
    mkdir "$stage"
    cp -al "$base/current/." "$stage" 2>/dev/null || cp -a "$base/current/." "$stage"
    find "$stage" -name __pycache__ -prune -exec rm -rf {} +
    cd "$stage"
    rm -f -- "$@"
else
    mkdir "$stage"
    cd "$stage"
fi
gzip -dc | tar -xf -
find . -depth -type d -exec rmdir {} + 2>/dev/null || true
sha256sum -c SHA256SUMS >/dev/null
sync
if [ -d "$target" ]; then mv "$target" "$target.old.tmp"; fi
cd "$base"
mv "$stage" "$target"
sync
trap - EXIT

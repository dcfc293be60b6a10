# Writes files, each completely or not at all. Standard input is tar.gz: `list` has a line for each file with its number,
# the required sha256 of the present file (- for none, * for any), and its path; the numbers are the files.
# usage: write FOLDER-FOR-INCOMING-FILES
export LC_ALL=C
umask 077
work=$1
mkdir -p "$work" && rm -rf "$work"/* && cd "$work" && gzip -dc | tar -xf - && sync || exit 1
status=0
while read -r number hash path; do
    seen=-
    [ ! -e "$path" ] || { seen=$(sha256sum <"$path") && seen=${seen%% *}; }
    if [ "$hash" != '*' ] && [ "$hash" != "$seen" ]; then
        echo "changed $path"
    elif mkdir -p "${path%/*}" && mv "$number" "$path.tmp" && mv "$path.tmp" "$path"; then
        echo "done $path"
    else
        status=1
    fi
done <list
cd / && rm -rf "$work"
sync
exit $status

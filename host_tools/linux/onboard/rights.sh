# What process $1 may do, and whether it may write to the release in $2: one `name value` a line.
export LC_ALL=C
sed -n 's/^\(Uid\|NoNewPrivs\|CapBnd\):[[:space:]]*\([0-9a-f]*\).*/\1 \2/p' "/proc/$1/status" 2>/dev/null
held= mode=
while read -r _ _ _ _ place options _; do
    # What is mounted last at the longest path holds.
    case $2/ in
    "${place%/}"/*) [ ${#place} -lt ${#held} ] || { held=$place && mode=${options%%,*}; } ;;
    esac
done <"/proc/$1/mountinfo" 2>/dev/null
echo "release ${mode:-}"
# A user's own /tmp is another folder than ours.
[ "$(stat -L -c %d:%i "/proc/$1/root/tmp" 2>/dev/null)" = "$(stat -c %d:%i /tmp)" ] || echo "tmp private"

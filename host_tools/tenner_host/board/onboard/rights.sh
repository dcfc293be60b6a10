# Reports the rights of process $1, and whether it may write to the release in $2: one `name value` a line.
export LC_ALL=C
sed -n 's/^\(Uid\|NoNewPrivs\|CapBnd\):[[:space:]]*\([0-9a-f]*\).*/\1 \2/p' "/proc/$1/status" 2>/dev/null
held= mode=
while read -r _ _ _ _ place options _; do
    # The last mount at the longest path counts.
    case $2/ in
    "${place%/}"/*) [ ${#place} -lt ${#held} ] || { held=$place && mode=${options%%,*}; } ;;
    esac
done <"/proc/$1/mountinfo" 2>/dev/null
echo "release ${mode:-}"
# A private /tmp differs from ours.
[ "$(stat -L -c %d:%i "/proc/$1/root/tmp" 2>/dev/null)" = "$(stat -c %d:%i /tmp)" ] || echo "tmp private"

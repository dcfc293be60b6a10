# Reports the facts of a board, one `name value` a line; then the files of its release, by sha256sum.
export LC_ALL=C
if [ "$(id -u)" = 0 ]; then
    base=/opt/tenner data=/var/lib/tenner etc=/etc/tenner log=/var/log/tenner.log
else
    base=$HOME/.local/lib/tenner
    data=${XDG_DATA_HOME:-$HOME/.local/share}/tenner
    etc=${XDG_CONFIG_HOME:-$HOME/.config}/tenner
    log=${XDG_STATE_HOME:-$HOME/.local/state}/tenner/agent.log
fi
echo "user $(id -un 2>/dev/null || id -u)"
echo "base $base"
echo "data $data"
echo "etc $etc"
echo "log $log"
echo "system $(uname -s)"
echo "machine $(uname -m)"
echo "kernel $(uname -r)"
echo "host $(uname -n)"
echo "clock $(date +%s)"
# "CLIENT PORT ADDRESS PORT"
address=${SSH_CONNECTION% *}
echo "address ${address##* }"
echo "id $(cat /etc/machine-id 2>/dev/null)"
libc=unknown
for file in /lib/ld-musl-* /lib/ld-linux* /lib64/ld-linux* /lib/*-linux-gnu*/libc.so.6 /lib/ld-uClibc*; do
    case $file in
    *'*'*) ;;
    */ld-musl*) libc=musl ;;
    */ld-uClibc*) libc=uclibc ;;
    *) libc=glibc ;;
    esac
    [ $libc = unknown ] || break
done
echo "libc $libc"
if [ -d /run/systemd/system ]; then
    echo "init systemd"
elif [ -f /etc/init.d/rcS ]; then
    echo "init sysvinit"
elif command -v update-rc.d >/dev/null; then
    echo "init sysvinit"
else
    echo "init unknown"
fi
for tool in tar gzip sha256sum readlink mkfifo; do
    command -v $tool >/dev/null || echo "missing $tool"
done
python3 -c 'import sys, ssl, asyncio; print("python", "%d.%d.%d" % sys.version_info[:3])' 2>/dev/null
place=$base
while [ ! -d "$place" ]; do place=$(dirname "$place"); done
# Not df, which needs /proc.
stat -f -c 'space %S %b %a' "$place"
[ -w "$place" ] || echo "readonly $place"
[ ! -e "$etc/config.json" ] || echo "configured yes"
if [ -d "$base/current" ]; then
    name=$(readlink "$base/current")
    echo "release ${name##*/}"
    echo "agent $("$base/current/ctl" status 2>/dev/null)"
    cd "$base/current/" && sed 's/^/about /' RELEASE 2>/dev/null
    [ "${1:-}" != files ] || find . -type f ! -path '*/__pycache__/*' -exec sha256sum {} +
fi
exit 0

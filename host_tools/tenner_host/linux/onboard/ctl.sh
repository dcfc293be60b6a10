#!/bin/sh
# ctl: runs the agent of this release as a service: starts, supervises and updates it, and gives access to its console.
# MIT license; Copyright (c) 2026 the tenner authors
#
# It needs a POSIX shell and the tools of busybox. A user other than root has the agent in the user's home folder.

set -u
me=$(readlink -f "$0")
release=$(dirname "$me")
base=$(dirname "$(dirname "$release")")
if [ "$(id -u)" = 0 ]; then
    data=/var/lib/tenner etc=/etc/tenner log=/var/log/tenner.log
    run=/run/tenner
    [ -d /run ] || run=/var/run/tenner
else
    data=${XDG_DATA_HOME:-$HOME/.local/share}/tenner
    etc=${XDG_CONFIG_HOME:-$HOME/.config}/tenner
    log=${XDG_STATE_HOME:-$HOME/.local/state}/tenner/agent.log
    run=$data/run
    # systemctl finds that user's systemd here; an ssh server without PAM does not set it.
    export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
fi

first_delay_s=1
last_delay_s=60
lasted_s=60       # an agent that ran so long restarts its back-off
log_kb=512
answer_s=120      # a slow board compiles everything at its first start under CPython
steady_s=1

nap() {
    sleep 0.2 2>/dev/null || sleep 1
}

seconds() {
    # From a clock that nobody sets, if there is one.
    if [ -r /proc/uptime ]; then
        read -r up _ </proc/uptime
        echo "${up%.*}"
    else
        date +%s
    fi
}

boot_id() {
    cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown
}

log_size() {
    wc -c <"$log" 2>/dev/null | tr -d ' ' || echo 0
}

log_since() {
    tail -c "+$(($1 + 1))" "$log" 2>/dev/null
}

say() {
    printf '%8s %-9s %s\n' "$(date +%H:%M:%S)" service "$*" >>"$log"
}

# Write standard input to file $1, mode $2. A power cut leaves the file as it was, or the new one: an init script cut short
# would start nothing for good. No init reads a name that begins with a dot.
place() {
    part=$(dirname "$1")/.${1##*/}.new
    cat >"$part" && chmod "${2:-644}" "$part" && sync && mv -f "$part" "$1"
}

# Does the process of the number in file $1 run, with $2 in its command line?
alive() {
    pid=$(cat "$run/$1" 2>/dev/null) || return 1
    [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null || return 1
    [ ! -r "/proc/$pid/cmdline" ] || grep -q "$2" "/proc/$pid/cmdline"
}

# After a power cut in the middle of an update: roll back to the previous release.
recover() {
    [ -f "$base/trying" ] || return 0
    read -r before boot <"$base/trying"
    [ "$boot" != "$(boot_id)" ] || return 0
    rm -f "$base/trying"
    [ -x "$base/releases/$before/ctl" ] || return 0
    say "an update was cut off by a restart of the board: the release before it runs"
    point "$before"
    exec "$base/current/ctl" "$1"
}

# Files outside of the agent's own folders: under systemd only this step may write them.
prepare() {
    umask 077
    mkdir -p "$data" "$etc" "$run" "$(dirname "$log")"
    recover prepare
    "$release/tenner-agent" --prepare >>"$log" 2>&1
}

supervise() {
    umask 077
    ulimit -c 0
    mkdir -p "$data" "$etc" "$run" "$(dirname "$log")"
    if alive supervisor supervise && [ "$pid" != $$ ]; then
        echo "it runs already"
        return 0
    fi
    echo $$ >"$run/supervisor"
    recover supervise
    end_agent
    [ -p "$run/console" ] || { rm -f "$run/console" && mkfifo "$run/console"; }
    cd "$data" || return 1
    if [ -r "$etc/environment" ]; then
        set -a
        . "$etc/environment"
        set +a
    fi
    # Only root and this user can reach it.
    export TENNER_CONSOLE_ENABLED=true
    # Held open, so that the console never ends and keeps typed text while the agent starts.
    exec 3<>"$run/console"
    stopping='' child='' trimmer=''
    trap 'stopping=1; kill $child $trimmer 2>/dev/null' TERM INT HUP
    (
        exec 3<&- </dev/null
        trap 'kill $!; exit' TERM INT HUP
        while kill -0 $$ 2>/dev/null; do
            sleep 600 &
            wait $!
            trim
        done
    ) &
    trimmer=$!
    delay=$first_delay_s
    while [ -z "$stopping" ]; do
        begun=$(seconds)
        set -- --root "$data"
        [ ! -e "$etc/config.json" ] || set -- "$@" --config "$etc/config.json"
        "$release/tenner-agent" --least-power "$@" <&3 >>"$log" 2>&1 3<&- &
        child=$!
        echo $child >"$run/agent"
        wait $child
        status=$?
        [ -z "$stopping" ] || break
        [ $(($(seconds) - begun)) -lt $lasted_s ] || delay=$first_delay_s
        say "the agent ended with status $status and restarts in $delay s"
        child=''
        sleep $delay &
        wait $!
        delay=$((delay * 2))
        [ $delay -le $last_delay_s ] || delay=$last_delay_s
    done
    # The signal has ended the first wait, and the child no longer counts as alive.
    [ -z "$child" ] || wait $child
    rm -f "$run/supervisor" "$run/agent"
}

trim() {
    [ "$(log_size)" -gt $((log_kb * 1024)) ] || return 0
    # The agent goes on writing to the same file, at its end.
    cp "$log" "$log.1" && : >"$log"
}

end_agent() {
    end agent tenner
}

end() {
    alive "$1" "$2" || return 0
    victim=$pid
    kill "$victim" 2>/dev/null
    tries=0
    while kill -0 "$victim" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -ne 40 ] || kill -9 "$victim" 2>/dev/null
        [ $tries -lt 65 ] || return 1
        nap
    done
}

init() {
    cat "$base/init" 2>/dev/null || echo none
}

start() {
    case $(init) in
    systemd) systemctl start tenner ;;
    systemd-user) systemctl --user start tenner ;;
    *)
        if alive supervisor supervise; then
            return 0
        elif command -v setsid >/dev/null; then
            setsid "$me" supervise </dev/null >/dev/null 2>&1 &
        else
            nohup "$me" supervise </dev/null >/dev/null 2>&1 &
        fi
        ;;
    esac
}

stop() {
    case $(init) in
    systemd) systemctl stop tenner ;;
    systemd-user) systemctl --user stop tenner ;;
    *)
        end supervisor supervise
        end_agent
        ;;
    esac
}

status() {
    if alive agent tenner; then
        echo "running as process $pid, release ${release##*/}"
    else
        echo "not running"
        return 3
    fi
}

# --- updates

point() {
    ln -sfn "releases/$1" "$base/current.new"
    mv -T "$base/current.new" "$base/current" 2>/dev/null && return
    # Without -T, mv would move it into the folder behind the link.
    rm -f "$base/current"
    mv "$base/current.new" "$base/current"
}

script() {
    cat <<END
#!/bin/sh
### BEGIN INIT INFO
# Provides:          tenner
# Required-Start:    \$local_fs \$network
# Required-Stop:     \$local_fs
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: tenner, the agent of this board
### END INIT INFO
[ -e $base/current ] || mv $base/current.new $base/current
exec $base/current/ctl "\${1:-status}"
END
}

unit() {
    cat <<END
[Unit]
Description=tenner, the agent of this board
After=network.target

[Service]
ExecStartPre=-+/bin/sh -c '[ -e $base/current ] || mv $base/current.new $base/current; exec $base/current/ctl prepare'
ExecStart=$base/current/ctl supervise
Restart=always
RestartSec=1
TimeoutStartSec=300
KillMode=mixed
TimeoutStopSec=10
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
END
    [ "$(id -u)" != 0 ] || least_power
    cat <<END

[Install]
WantedBy=$1
END
}

# Rights that the agent never needs. It is root for the buses and pins, and to run the model's commands as another user
# (chown, dac_override, fowner, kill, setgid, setuid) without a network (sys_admin); it keeps /sys and all devices but disks.
least_power() {
    cat <<END
CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_SETGID CAP_SETUID CAP_SYS_ADMIN
SystemCallFilter=~@clock @module @mount @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
SystemCallArchitectures=native
RestrictNamespaces=ipc net
RestrictRealtime=yes
LockPersonality=yes
DevicePolicy=closed
DeviceAllow=char-* rw
END
    # Some containers forbid mounts; a service that asks for one would not start.
    ! command -v systemd-run >/dev/null || systemd-run --quiet --wait -p PrivateTmp=yes -p ProtectSystem=full true || return 0
    cat <<END
PrivateTmp=yes
ProtectSystem=full
ReadOnlyPaths=$base /proc/sys -/proc/sysrq-trigger
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectHostname=yes
END
}

# Make the board's init start the agent too.
install() {
    kind=none
    if [ "$(id -u)" != 0 ]; then
        # Without lingering that user's systemd would end at logout, and the agent with it.
        if systemctl --user show-environment &&
            { [ -e "/var/lib/systemd/linger/$(id -un)" ] || loginctl enable-linger; }; then
            kind=systemd-user
            mkdir -p "$HOME/.config/systemd/user"
            unit default.target | place "$HOME/.config/systemd/user/tenner.service"
            systemctl --user daemon-reload && systemctl --user enable tenner
        fi
    elif [ -d /run/systemd/system ]; then
        kind=systemd
        unit multi-user.target | place /etc/systemd/system/tenner.service
        systemctl daemon-reload && systemctl enable tenner
    elif [ -f /etc/init.d/rcS ]; then
        kind=rcS
        script | place /etc/init.d/S90tenner 755
    elif [ -d /etc/init.d ] && command -v update-rc.d >/dev/null; then
        kind=sysv
        script | place /etc/init.d/tenner 755
        update-rc.d tenner defaults
    fi
    echo $kind | place "$base/init"
}

# Does the agent that was started when the log had $1 bytes answer, and keep running?
healthy() {
    mark="/=$$-$1"
    begun=$(seconds)
    typed=-9
    answered=''
    while :; do
        now=$(($(seconds) - begun))
        if log_since "$1" | grep -q 'service   the agent ended'; then
            why="it ended"
            return 1
        elif [ -n "$answered" ]; then
            [ $((now - answered)) -lt $steady_s ] || return 0
        elif log_since "$1" | grep -q "There is no command $mark"; then
            answered=$now
        elif [ $now -ge $answer_s ]; then
            why="it does not answer"
            return 1
        # Only once a process holds the console: earlier text is lost.
        elif [ $((now - typed)) -ge 5 ] && alive agent tenner; then
            typed=$now
            printf '%s\r' "$mark" 1<>"$run/console"
        fi
        nap
    done
}

# Activate this release; roll back to the previous one if this one does not start.
activate() {
    before=$(readlink "$base/current" 2>/dev/null)
    before=${before##*/}
    name=${release##*/}
    [ "$before" != "$name" ] || before=''
    echo "${before:--} $(boot_id)" | place "$base/trying"
    sync
    stop
    point "$name"
    install >/dev/null 2>&1
    mkdir -p "$(dirname "$log")"
    size=$(log_size)
    start
    if healthy "${size:-0}"; then
        rm -f "$base/trying"
        [ -z "$before" ] || echo "$before" | place "$base/previous"
        keep=$(cat "$base/previous" 2>/dev/null)
        for folder in "$base"/releases/*; do
            case ${folder##*/} in
            "$name" | "$keep") ;;
            *) rm -rf "$folder" ;;
            esac
        done
        echo "result running"
        return 0
    fi
    log_since "$size" | grep -v 'service   the agent ended' | tail -n 20 | sed 's/^/log /'
    echo "why $why"
    if [ -z "$before" ]; then
        rm -f "$base/trying"
        echo "result failed"
        return 1
    fi
    stop
    point "$before"
    rm -f "$base/trying"
    say "the new release does not start ($why): rolled back to the previous release"
    size=$(log_size)
    "$base/current/ctl" start
    if healthy "$size"; then
        rm -rf "$release"
        echo "result back"
    else
        echo "result lost"
    fi
    return 1
}

# The connection may break in the middle: the board finishes the activation anyway.
activation() {
    mkdir -p "$run"
    : >"$run/activation"
    if command -v setsid >/dev/null; then
        setsid "$me" activate </dev/null >"$run/activation" 2>&1 &
    else
        nohup "$me" activate </dev/null >"$run/activation" 2>&1 &
    fi
    wait $!
    cat "$run/activation"
}

# The agent's console on standard input and output, until the input ends.
console() {
    if ! alive agent tenner; then
        echo "the agent does not run" >&2
        return 3
    fi
    # Determined here, not in the background process: the answer may come before that one starts.
    from=$(($(log_size) + 1))
    tail -c "+$from" -f "$log" &
    reader=$!
    trap 'kill $reader 2>/dev/null' EXIT
    trap exit HUP INT TERM
    cat 1<>"$run/console"
}

restart() {
    size=$(log_size)
    stop
    start
    if healthy "${size:-0}"; then
        echo "result running"
    else
        log_since "$size" | tail -n 20 | sed 's/^/log /'
        echo "why $why"
        echo "result failed"
        return 1
    fi
}

case ${1:-} in
prepare | supervise | start | stop | restart | status | activate | activation | console) "$1" ;;
unit) unit multi-user.target ;;
*)
    echo "usage: ctl start | stop | restart | status | supervise | console | activate" >&2
    exit 2
    ;;
esac

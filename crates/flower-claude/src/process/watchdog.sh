# Ends the processes of a session when its driver is gone.
#
# stdin is a pipe from the driver, which never closes it: end-of-file means that the driver has died, in whatever way.
# A driver that has cleaned up by itself kills this script. stdout is the input of the session's main process: it is held
# open and nothing is written to it.
#
#   $1  what the environment of each process of the session contains
#   $2  seconds between SIGTERM and SIGKILL
#
# Lines through the pipe: the process group of the session's main process; "close" when its input is to end.

trap '' HUP INT QUIT TERM

group=
while read -r line; do
    case $line in
        close) exec >/dev/null ;;
        *) group=$line ;;
    esac
done

# Prints the ids of all live processes of the session. Where there is no /proc it prints nothing.
marked() {
    grep -lF -e "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        echo "$pid"
    done
}

# Sends a signal to each process of the session, once.
signal() {
    for pid in $pids; do
        kill -s "$1" "$pid" 2>/dev/null
    done
    # Without /proc nobody can tell whose the group is, but the driver has died this very moment.
    if [ ! -e /proc/self/environ ] && [ -n "$group" ]; then
        kill -s "$1" -- "-$group" 2>/dev/null
    fi
}

pause() {
    sleep 0.1 2>/dev/null || sleep 1
}

pids=$(marked "$1")
signal TERM

rounds=$(($2 * 10))
while [ "$rounds" -gt 0 ]; do
    pause
    pids=$(marked "$1")
    if [ -z "$pids" ] && [ -e /proc/self/environ ]; then
        exit 0
    fi
    rounds=$((rounds - 1))
done

# A process that is being killed may start another one: look again until there is none.
rounds=20
while [ "$rounds" -gt 0 ]; do
    pids=$(marked "$1")
    signal KILL
    if [ -z "$pids" ]; then
        exit 0
    fi
    pause
    rounds=$((rounds - 1))
done

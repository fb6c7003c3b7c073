#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make run: serves the dashboard; on an empty database runs the first experiment and prints its report.
# Environment: O (build folder), DATA (data directory), PORT, ONCE=1 (end after the report).
set -eu
[ $# = 0 ] || { echo "run.sh: takes no arguments; see its first lines" >&2; exit 1; }
here=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
DATA=${DATA:-data}
PORT=${PORT:-8210}
ONCE=${ONCE:-}

LABD_URL=http://127.0.0.1:$PORT
LABD_TOKEN_FILE=$DATA/token
export LABD_URL LABD_TOKEN_FILE
labctl=$O/labctl

mkdir -p "$DATA"
"$O/labd" --data "$DATA" --port "$PORT" &
labd=$!
stop()
{
	kill "$labd" 2>/dev/null || :
	wait "$labd" 2>/dev/null || :
}
trap 'stop; exit 130' INT TERM
trap stop EXIT

tries=0
until curl -fs -o /dev/null "$LABD_URL/healthz" && [ -e "$LABD_TOKEN_FILE" ]; do
	kill -0 "$labd" 2>/dev/null || { wait "$labd" || exit 1; exit 1; }
	tries=$((tries + 1))
	[ "$tries" -lt 100 ] || { echo "run: labd does not answer on port $PORT" >&2; exit 1; }
	sleep 0.1
done

# What answers may be another labd, which made this one end.
sleep 0.3
kill -0 "$labd" 2>/dev/null || exit 1

# Whether or not it ended well, what there is to report is reported.
status=0
last=$(sqlite3 -readonly "$DATA/lab.db" 'SELECT coalesce(max(id), 0) FROM experiment')
if [ "$last" = 0 ]; then
	"$labctl" submit "$here/experiments/kvm-first.json" --watch || status=$?
	last=$(sqlite3 -readonly "$DATA/lab.db" 'SELECT coalesce(max(id), 0) FROM experiment')
else
	"$labctl" watch "$last" || status=$?
fi
echo
[ "$last" = 0 ] || "$labctl" report "$last" || status=$?
echo
echo "Dashboard: $LABD_URL/"
[ -z "$ONCE" ] || exit "$status"
echo "Ctrl-C ends labd; what it has recorded stays in $DATA."
wait "$labd"

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2153,SC2154 # who sources this sets what is in capitals
#
# Building the arms of a subject, or finding them in the cache: what kernel/build.sh and xen/build.sh
# share (sourced by both, after their source.sh).
#
# A result is a directory $RESULTS/<key>/ that appears by one rename, the key being a hash over
# everything that goes into it; build/builds/<name>.json says where it is. Who sources this sets
#
#	WHAT		what an arm is, for messages
#	RESULTS		where results are kept
#	RECIPE		what make is told for every arm: a part of the key, and why a key has one
#			build-id
#	TARGET PRODUCT	make's target; the file of a result whose hash proves it whole
#	WHOLE		the file in the object tree that is there after a first build
#	FULL REST	make's steps before anything is known: of a first build, of a later one
#	FRAGMENTS	files of configuration
#
# and gives arm_make() (sets MAKE, for $NAME and $OBJ), arm_config FILE (makes FILE from FRAGMENTS),
# arm_collect DIR (the result's files and DIR/facts.json), arm_manifest DIR (prints the manifest;
# SERIES_SHA,
# SERIES_TEXT, a file with the patches one behind the other, and their names as arguments).

BUILDS=${O:-$TOP/build}/builds
KEEP=64		# results in the cache; the ones not used for longest go first
TREE=''		# -<name> for an object tree beside the usual one

# key_of PATCH... - the cache key; a patch counts from its first diff line, so that its message
# can be reworded without a rebuild
key_of()
{
	local patch

	{
		echo "$NAME $VERSION $TARBALL_SHA $COMPILER $LINKER ${RECIPE[*]}"
		grep -hE '^(# )?CONFIG_' "${FRAGMENTS[@]}"
		for patch; do
			sed -nE '/^(diff |--- .)/,$p' "$patch" | hash_of
		done
	} | hash_of
}

# install_sources PATCH... - make work/ what the arm needs, touching only files that differ
#
# The file `touched` lists every path that may differ from pristine/. It is written before the
# first change and cut down after the last, so after a kill in between the next start still
# compares all of them: what is in the tree is never trusted, only compared.
install_sources()
{
	local scratch=$SRC/scratch tree=$SRC/work path want have

	series_apply "$scratch" "$@"
	if [ $# -gt 0 ]; then patch_paths "$@"; fi >"$SRC/wanted"
	touch "$SRC/touched"
	sort -u "$SRC/wanted" "$SRC/touched" >"$SRC/touched.new"
	mv "$SRC/touched.new" "$SRC/touched"
	sync -d "$SRC/touched"

	while read -r path; do
		want=$SRC/pristine/$path
		have=$tree/$path
		! grep -qxF -- "$path" "$SRC/wanted" || want=$scratch/$path
		if [ ! -f "$want" ]; then
			rm -f "$have"
		elif ! cmp -s "$want" "$have"; then
			mkdir -p "$(dirname "$have")"
			cp --remove-destination "$want" "$have.labd"
			mv "$have.labd" "$have"
		fi
	done <"$SRC/touched"
	mv "$SRC/wanted" "$SRC/touched"
}

# configure - make .config from the fragments; every line of them must survive
configure()
{
	local config=$SRC/config.new line name lost=0

	mkdir -p "$OBJ"
	arm_config "$config"

	# A later fragment may take back what an earlier one says: only the last word counts.
	while read -r name line; do
		case $line in
		"#"*)	! grep -q "^$name=" "$config" ;;
		*)	grep -qxF -- "$line" "$config" ;;
		esac && continue
		echo "$NAME: this $WHAT cannot have \"$line\"" >&2
		lost=1
	done < <(cat "${FRAGMENTS[@]}" | sed -nE 's/^(# )?(CONFIG_[A-Za-z0-9_]+).*/\2 &/p' |
		awk '{ last[$1] = $0 } END { for (n in last) print last[n] }' | sort)
	[ $lost = 0 ] || die "the configuration asks for what it cannot have"

	cmp -s "$config" "$OBJ/.config" || mv "$config" "$OBJ/.config"
	rm -f "$config" "$config.old"
}

# drop_unfinished - forget what a killed make may have left half-written
#
# Make deletes its targets when it fails or is asked to stop, but not when it is killed, and takes
# a truncated object that is newer than its source for a good one.
drop_unfinished()
{
	[ -f "$BUILDING" ] || return 0
	echo "the last build was killed: dropping what it had made" >&2
	find "$OBJ" -type f -newer "$BUILDING" -delete
	rm -f "$BUILDING"
}

steps_done()
{
	grep -cE '^  [A-Z]' "$LOG" || true
}

# show_progress TOTAL START TTY - one line: percent of make's steps, and the time left at this pace
show_progress()
{
	local total=$1 start=$2 tty=$3 steps percent left

	steps=$(steps_done)
	[ "$steps" -lt "$total" ] || steps=$((total - 1))
	percent=$((100 * steps / total))
	left=$(((SECONDS - start) * (total - steps) / (steps + 1)))
	if [ "$tty" = 1 ]; then
		printf '\r%s: building %3d %%, about %d:%02d left \e[K' "$NAME" "$percent" \
			$((left / 60)) $((left % 60))
	else
		printf '%s: building %3d %%, about %d:%02d left\n' "$NAME" "$percent" \
			$((left / 60)) $((left % 60))
	fi >&2
}

# run_make - build the object tree, with progress
run_make()
{
	local kind=rest total start=$SECONDS pid rc=0 tty=0 next=20

	[ -f "$OBJ/$WHOLE" ] || kind=full
	# Before the first build of a kind there is nothing to go by but what was seen elsewhere.
	case $kind in
	full)	total=$FULL ;;
	*)	total=$REST ;;
	esac
	[ ! -s "$SRC/steps$TREE.$kind" ] || total=$(cat "$SRC/steps$TREE.$kind")
	[ ! -t 2 ] || tty=1

	# An earlier mtime, for file systems that count in coarse steps.
	touch -d '-2 seconds' "$BUILDING"
	"${MAKE[@]}" -j"$(nproc)" "$TARGET" >"$LOG" 2>&1 &
	pid=$!
	trap 'kill -TERM $pid 2>/dev/null; wait $pid || :; rm -f "$BUILDING"; exit 130' INT TERM HUP
	while kill -0 $pid 2>/dev/null; do
		if [ $tty = 1 ]; then
			show_progress "$total" "$start" 1
		elif [ $((SECONDS - start)) -ge $next ]; then
			show_progress "$total" "$start" 0
			next=$((next + 20))
		fi
		sleep 0.5
	done
	wait $pid || rc=$?
	trap - INT TERM HUP
	[ $tty = 0 ] || printf '\r\e[K' >&2
	# A full disk truncates what make believes to be whole.
	grep -q 'No space left on device' "$LOG" || rm -f "$BUILDING"
	[ $rc = 0 ] || show_errors
	steps_done >"$SRC/steps$TREE.$kind"
}

show_errors()
{
	grep -E 'error:|undefined reference|warning: treated|No space left|\*\*\*|Error [0-9]+$' \
		"$LOG" | tail -n 20 >&2 || tail -n 20 "$LOG" >&2
	die "$NAME: the build failed; the whole log is $LOG"
}

# build_id FILE - its GNU build-id in hex
build_id()
{
	local id

	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	[ ${#id} = 40 ] || die "$NAME: ${1##*/} has no build-id"
	echo "$id"
}

# store KEY - put the finished build into the cache
store()
{
	local dir=$RESULTS/$1 new=$RESULTS/.new

	rm -rf "$new"
	mkdir -p "$new"
	arm_collect "$new"
	cp "$OBJ/.config" "$new/config"
	cp "$LOG" "$new/build.log"
	jq -r .build_id "$new/facts.json" >"$new/build-id"
	jq --arg sha "$(hash_of <"$new/$PRODUCT")" --arg key "$1" \
		"{\$key} + . + {${PRODUCT}_sha256: \$sha}" "$new/facts.json" >"$new/build.json"
	rm "$new/facts.json"
	sync -f "$new"
	rm -rf "$dir"
	mv "$new" "$dir"
	find "$RESULTS" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn |
		tail -n +$((KEEP + 1)) | cut -d' ' -f2- | xargs -r -d '\n' rm -rf
}

# cached KEY - is there a whole result under this key?
cached()
{
	local dir=$RESULTS/$1

	[ -f "$dir/build.json" ] &&
		[ "$(jq -r ".${PRODUCT}_sha256" "$dir/build.json")" = "$(hash_of <"$dir/$PRODUCT")" ]
}

# write_manifest KEY PATCH... - tell labd about the result
write_manifest()
{
	local dir=$RESULTS/$1 patch refs=() new

	shift
	for patch; do
		refs+=("$(basename "$(dirname "$patch")")/${patch##*/}")
	done
	mkdir -p "$BUILDS"
	new=$(mktemp "${MANIFEST%/*}/.$NAME.XXXXXX")
	# shellcheck disable=SC2034 # for arm_manifest
	SERIES_SHA=$(cat /dev/null "$@" | hash_of)
	# shellcheck disable=SC2034
	SERIES_TEXT=${MANIFEST%.json}.series
	cat /dev/null "$@" >"$new"
	chmod 644 "$new"
	mv "$new" "$SERIES_TEXT"
	arm_manifest "$dir" "${refs[@]}" >"$new" || { rm -f "$new"; die "$NAME: no manifest"; }
	chmod 644 "$new"
	mv "$new" "$MANIFEST"
	touch "$dir"
}

# build_arm NAME DIR... - one arm from its series' directories
build_arm()
{
	local dir list key start=$SECONDS patches=()

	NAME=$1
	shift
	[[ $NAME =~ ^[a-z0-9][a-z0-9._-]{0,63}$ ]] ||
		die "\"$NAME\": a name is 1 to 64 of a-z, 0-9, dot, dash and underscore"
	MANIFEST=${MANIFEST:-$BUILDS/$NAME.json}
	for dir; do
		list=$(series_patches "$dir")
		[ -z "$list" ] || mapfile -t -O ${#patches[@]} patches <<<"$list"
	done
	key=$(key_of "${patches[@]}")
	if cached "$key"; then
		write_manifest "$key" "${patches[@]}"
		echo "$NAME: in the cache, ${key:0:12}"
		return
	fi

	source_lock
	if cached "$key"; then
		exec 9>&-
		write_manifest "$key" "${patches[@]}"
		echo "$NAME: in the cache, ${key:0:12}"
		return
	fi
	source_unpack
	OBJ=$SRC/obj$TREE
	BUILDING=$SRC/building$TREE
	LOG=$SRC/build.log
	arm_make
	drop_unfinished
	install_sources "${patches[@]}"
	configure
	run_make
	store "$key"
	exec 9>&-
	write_manifest "$key" "${patches[@]}"
	echo "$NAME: built in $((SECONDS - start)) s, ${key:0:12}"
}

# build_words NAME WORD... - one arm of the file `arms`: series, and +fragments of configuration
build_words()
{
	local name=$1 word dirs=()

	shift
	for word; do
		case $word in
		+*)	FRAGMENTS+=("$TOP/$PART/config/${word#+}.config")
			TREE+=-${word#+} ;;
		*)	dirs+=("$(series_dir "$word")") ;;
		esac
	done
	build_arm "$name" "${dirs[@]}"
}

# arms_main ARG... - what the command line asks for; needs usage() and build_prepare()
arms_main()
{
	local name words own='' plain=0 names=() own_series=() wanted=() dirs=()
	declare -A known

	while IFS=: read -r name words; do
		names+=("$name")
		known[$name]=$words
	done < <(arms)

	while [ $# -gt 0 ]; do
		case $1 in
		--list)		printf '%s\n' "${names[@]}"; return ;;
		--plain)	plain=1 ;;
		--name|--series|--config)
			[ $# -ge 2 ] || die "$1 needs a value"
			case $1 in
			--name)		own=$2 ;;
			--series)	own_series+=("$2") ;;
			--config)	FRAGMENTS+=("$2") ;;
			esac
			shift ;;
		-h|--help)	usage; return ;;
		-*)		usage >&2; exit 2 ;;
		*)		wanted+=("$1") ;;
		esac
		shift
	done
	[ -z "$own" ] || [ ${#wanted[@]} = 0 ] ||
		die "--name builds one $WHAT of your own: give no other names"
	[ ${#wanted[@]} -gt 0 ] || wanted=("${names[@]}")
	for name in "${wanted[@]}"; do
		[ -n "${known[$name]+set}" ] || die "$name: not in $PART/arms (try --list)"
	done

	source_identify
	COMPILER=$(gcc --version | head -n 1)
	LINKER=$(ld --version | head -n 1)
	build_prepare

	if [ -n "$own" ]; then
		[ $plain = 1 ] || dirs=("$(series_dir instrument)")
		build_arm "$own" "${dirs[@]}" "${own_series[@]}"
		return
	fi
	for name in "${wanted[@]}"; do
		# A subshell: fragments and object tree are this arm's alone.
		# shellcheck disable=SC2086 # a list of words
		(build_words "$name" ${known[$name]})
	done
}

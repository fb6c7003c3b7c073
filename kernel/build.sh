#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh - build the kernels of an experiment's arms, or find them in the cache
#
# See kernel/README.md. A result is a directory $LABD_CACHE/kernels/<key>/ that appears by one
# rename, the key being a hash over everything that goes into the kernel; build/builds/<name>.json
# says where it is.

# shellcheck source=kernel/source.sh
. "$(dirname "${BASH_SOURCE[0]}")/source.sh"

BUILDS=${O:-$TOP/build}/builds
KEEP=64		# kernels in the cache; the ones not used for longest go first

# What make is told for every kernel: a part of the key, and why a key has one build-id.
RECIPE=(LOCALVERSION= KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
	KBUILD_BUILD_USER=labd KBUILD_BUILD_VERSION=1)

usage()
{
	cat <<-EOF
	usage: build.sh [--list] [NAME...]
	       build.sh --name NAME [--plain] [--series DIR]... [--config FILE]...

	Without names, builds all of kernel/arms. With --name, builds the patches of
	each DIR in turn on top of the instrumentation (--plain: without it), with the
	configuration lines of each FILE added.
	EOF
}

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

# configure - make obj/.config from tinyconfig and the fragments; every line of them must survive
configure()
{
	local config=$SRC/config.new line name lost=0

	mkdir -p "$SRC/obj"
	"${MAKE[@]}" KCONFIG_CONFIG="$config" tinyconfig >"$LOG" 2>&1 || show_errors
	cat "${FRAGMENTS[@]}" >>"$config"
	"${MAKE[@]}" KCONFIG_CONFIG="$config" olddefconfig >"$LOG" 2>&1 || show_errors

	# A later fragment may take back what an earlier one says: only the last word counts.
	while read -r name line; do
		case $line in
		"#"*)	! grep -q "^$name=" "$config" ;;
		*)	grep -qxF -- "$line" "$config" ;;
		esac && continue
		echo "$NAME: this kernel cannot have \"$line\"" >&2
		lost=1
	done < <(cat "${FRAGMENTS[@]}" | sed -nE 's/^(# )?(CONFIG_[A-Za-z0-9_]+).*/\2 &/p' |
		awk '{ last[$1] = $0 } END { for (n in last) print last[n] }' | sort)
	[ $lost = 0 ] || die "the configuration asks for what it cannot have"

	cmp -s "$config" "$SRC/obj/.config" || mv "$config" "$SRC/obj/.config"
	rm -f "$config" "$config.old"
}

# drop_unfinished - forget what a killed make may have left half-written
#
# Make deletes its targets when it fails or is asked to stop, but not when it is killed, and takes
# a truncated object that is newer than its source for a good one.
drop_unfinished()
{
	[ -f "$SRC/building" ] || return 0
	echo "the last build was killed: dropping what it had made" >&2
	find "$SRC/obj" -type f -newer "$SRC/building" -delete
	rm -f "$SRC/building"
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

# run_make - build obj/, with progress
run_make()
{
	local kind=rest total start=$SECONDS pid rc=0 tty=0 next=20

	[ -f "$SRC/obj/vmlinux" ] || kind=full
	# Before the first build of a kind there is nothing to go by but what was seen elsewhere.
	case $kind in
	full)	total=1570 ;;
	*)	total=50 ;;
	esac
	[ ! -s "$SRC/steps.$kind" ] || total=$(cat "$SRC/steps.$kind")
	[ ! -t 2 ] || tty=1

	# An earlier mtime, for file systems that count in coarse steps.
	touch -d '-2 seconds' "$SRC/building"
	"${MAKE[@]}" -j"$(nproc)" bzImage >"$LOG" 2>&1 &
	pid=$!
	trap 'kill -TERM $pid 2>/dev/null; wait $pid || :; rm -f "$SRC/building"; exit 130' INT TERM HUP
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
	grep -q 'No space left on device' "$LOG" || rm -f "$SRC/building"
	[ $rc = 0 ] || show_errors
	steps_done >"$SRC/steps.$kind"
}

show_errors()
{
	grep -E 'error:|undefined reference|warning: treated|No space left|\*\*\*|Error [0-9]+$' \
		"$LOG" | tail -n 20 >&2 || tail -n 20 "$LOG" >&2
	die "$NAME: the build failed; the whole log is $LOG"
}

# store KEY - put the finished build into the cache
store()
{
	local dir=$CACHE/kernels/$1 new=$CACHE/kernels/.new id

	id=$(readelf -n "$SRC/obj/vmlinux" | sed -n 's/.*Build ID: //p')
	[ ${#id} = 40 ] || die "$NAME: vmlinux has no build-id"
	rm -rf "$new"
	mkdir -p "$new"
	cp "$SRC/obj/arch/x86/boot/bzImage" "$new/bzImage"
	cp "$SRC/obj/.config" "$new/config"
	cp "$LOG" "$new/build.log"
	echo "$id" >"$new/build-id"
	jq -n --arg id "$id" --arg release "$(cat "$SRC/obj/include/config/kernel.release")" \
		--arg sha "$(hash_of <"$new/bzImage")" --arg key "$1" \
		'{$key, build_id: $id, $release, bzImage_sha256: $sha}' >"$new/build.json"
	sync -f "$new"
	rm -rf "$dir"
	mv "$new" "$dir"
	find "$CACHE/kernels" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn |
		tail -n +$((KEEP + 1)) | cut -d' ' -f2- | xargs -r -d '\n' rm -rf
}

# cached KEY - is there a whole kernel under this key?
cached()
{
	local dir=$CACHE/kernels/$1

	[ -f "$dir/build.json" ] &&
		[ "$(jq -r .bzImage_sha256 "$dir/build.json")" = "$(hash_of <"$dir/bzImage")" ]
}

# write_manifest KEY PATCH... - tell labd about the kernel
write_manifest()
{
	local dir=$CACHE/kernels/$1 patch refs=()

	shift
	for patch; do
		refs+=("$(basename "$(dirname "$patch")")/${patch##*/}")
	done
	mkdir -p "$BUILDS"
	jq --arg name "$NAME" --arg dir "$dir" --arg base "$PACKAGE $VERSION" \
		--arg compiler "$COMPILER" --arg config_sha "$(hash_of <"$dir/config")" \
		--arg series_sha "$(cat /dev/null "$@" | hash_of)" \
		'{$name, subject: "kvm", kernel: ($dir + "/bzImage"), config: ($dir + "/config"),
		  log: ($dir + "/build.log"), build_id, release, $base, $compiler,
		  series: $ARGS.positional, series_sha256: $series_sha,
		  config_sha256: $config_sha, key}' "$dir/build.json" --args \
		"${refs[@]}" >"$BUILDS/.$NAME.new"
	mv "$BUILDS/.$NAME.new" "$BUILDS/$NAME.json"
	touch "$dir"
}

# build_arm NAME DIR... - one kernel from its series' directories
build_arm()
{
	local dir list key start=$SECONDS patches=()

	NAME=$1
	shift
	[[ $NAME =~ ^[a-z0-9][a-z0-9._-]{0,63}$ ]] ||
		die "\"$NAME\": a name is 1 to 64 of a-z, 0-9, dot, dash and underscore"
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
	LOG=$SRC/build.log
	# Nothing of the caller's environment that the key lacks.
	MAKE=(env -i PATH="$PATH" LC_ALL=C nice -n 5 make -C "$SRC/work" O="$SRC/obj"
		KBUILD_BUILD_HOST="$NAME" "${RECIPE[@]}")
	drop_unfinished
	install_sources "${patches[@]}"
	configure
	run_make
	store "$key"
	exec 9>&-
	write_manifest "$key" "${patches[@]}"
	echo "$NAME: built in $((SECONDS - start)) s, ${key:0:12}"
}

main()
{
	local name series word own='' plain=0 names=() own_series=() dirs
	declare -A arms

	while IFS=: read -r name series; do
		names+=("$name")
		arms[$name]=$series
	done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$TOP/kernel/arms")

	FRAGMENTS=("$TOP"/kernel/config/*.config)
	local wanted=()
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

	source_identify
	COMPILER=$(gcc --version | head -n 1)
	LINKER=$(ld --version | head -n 1)

	if [ -n "$own" ]; then
		[ ${#wanted[@]} = 0 ] || die "--name builds one kernel of your own: give no other names"
		dirs=()
		[ $plain = 1 ] || dirs=("$(series_dir instrument)")
		build_arm "$own" "${dirs[@]}" "${own_series[@]}"
		return
	fi
	[ ${#wanted[@]} -gt 0 ] || wanted=("${names[@]}")
	for name in "${wanted[@]}"; do
		[ -n "${arms[$name]+set}" ] || die "$name: not in kernel/arms (try --list)"
	done
	for name in "${wanted[@]}"; do
		dirs=()
		for word in ${arms[$name]}; do
			dirs+=("$(series_dir "$word")")
		done
		build_arm "$name" "${dirs[@]}"
	done
}

# Read to here before anything runs: the file may be edited during a build.
main "$@"; exit

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# image.sh - make the initramfs of a machine: lab-agent as /init, the workloads, empty folders
#
# The same inputs give the same bytes: the image's hash is part of a run's environment. An image
# that would not change is left alone, with its time.

set -euo pipefail
export LC_ALL=C
umask 022

usage()
{
	cat <<-EOF
	usage: image.sh [--build DIR] [--output NAME] [--extra HOSTPATH:GUESTPATH]...

	Makes DIR/images/NAME.cpio.gz and NAME.json (build, kvm) from DIR/lab-agent and
	DIR/kvm-churn. An extra file comes with the shared libraries it needs. Without
	--build, the environment's O is the folder, as in the Makefile.
	EOF
}

die()
{
	echo "image.sh: $*" >&2
	exit 1
}

# put HOSTPATH GUESTPATH - copy one file; later files never replace earlier ones silently
put()
{
	[[ -f $1 ]] || die "$1 is not a file"
	# The manifest is JSON and written below without escaping.
	[[ $2 =~ ^/[A-Za-z0-9._+/-]+$ && $2 != *..* && $2 != */ ]] ||
		die "\"$2\" is no path for the image: /, letters, digits and . _ + - only"
	if [[ -e $stage$2 ]]; then
		cmp -s "$1" "$stage$2" || die "two different files for $2"
		return
	fi
	install -D -m 755 "$1" "$stage$2"
}

# put_libraries HOSTPATH - what the dynamic linker would load for it, and the linker itself
put_libraries()
{
	local library listing

	# ldd fails for scripts and static programs: they need nothing.
	listing=$(ldd "$1" 2>/dev/null) || return 0
	[[ $listing != *"not found"* ]] || die "$1 needs a library that is not installed"
	while read -r library; do
		put "$library" "$library"
	done < <(sed -nE 's,^.*[[:space:]](/[^ ]+) \(0x[0-9a-f]+\)$,\1,p' <<<"$listing")
}

# replace NEW OLD - rename, unless both are equal
replace()
{
	cmp -s "$1" "$2" || mv -f "$1" "$2"
}

build=${O:-build}
name=kvm
extras=()
while (($#)); do
	case $1 in
	--build | --output | --extra)
		(($# > 1)) || die "$1 needs a value"
		case $1 in
		--build) build=$2 ;;
		--output) name=$2 ;;
		--extra) extras+=("$2") ;;
		esac
		shift 2
		;;
	-h | --help)
		usage
		exit
		;;
	*)
		die "$1 is not an option"
		;;
	esac
done
[[ $name =~ ^[A-Za-z0-9._-]+$ ]] || die "\"$name\" is no name for an image"

images=$build/images
mkdir -p "$images"
images=$(realpath "$images")
[[ $images != *[\"\\[:cntrl:]]* ]] || die "cannot name $images in the manifest"
work=$(mktemp -d "$images/.$name.XXXXXX")
trap 'rm -rf "$work"' EXIT
stage=$work/root

mkdir -p "$stage"/{bin,dev,proc,run,sys,tmp}
put "$build/lab-agent" /init
put "$build/kvm-churn" /bin/kvm-churn
for extra in "${extras[@]}"; do
	[[ $extra == *:/* ]] || die "--extra wants HOSTPATH:GUESTPATH, not \"$extra\""
	put "${extra%:*}" "${extra##*:}"
	put_libraries "${extra%:*}"
done

find "$stage" -exec touch -h -d @0 {} +
(cd "$stage" && find . -mindepth 1 -print0 | sort -z |
	cpio --quiet --null --create --format=newc --reproducible --owner=+0:+0) |
	gzip -n -9 >"$work/image"

image=$images/$name.cpio.gz
{
	printf '{"name":"%s","image":"%s","sha256":"%s","files":[' "$name" "$image" \
		"$(sha256sum <"$work/image" | cut -d' ' -f1)"
	comma=
	while IFS= read -r -d '' file; do
		printf '%s{"path":"%s","sha256":"%s"}' "$comma" "${file#"$stage"}" \
			"$(sha256sum <"$file" | cut -d' ' -f1)"
		comma=,
	done < <(find "$stage" -type f -print0 | sort -z)
	printf ']}\n'
} >"$work/manifest"

replace "$work/image" "$image"
replace "$work/manifest" "$images/$name.json"

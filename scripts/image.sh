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
	                [--init PROGRAM] [--programs "NAME..."] [--folder GUESTPATH]...
	                [--root DIR [--notice "PACKAGE..."]]

	Makes DIR/images/NAME.cpio.gz and NAME.json (build, kvm) from DIR/PROGRAM as
	/init (lab-agent) and DIR/NAME as /bin/NAME (kvm-churn). An extra file comes
	with the shared libraries it needs. Without --build, the environment's O is
	the folder, as in the Makefile.

	Libraries come from DIR of --root first, which is what xen/tools.sh prints.
	With --notice, DIR/images/NAME.notice and /usr/share/doc/NOTICE hold the
	licences of the packages that files came from, and of the ones named.
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
	sources+=("$1")
}

# put_libraries HOSTPATH - what the dynamic linker would load for it, and the linker itself
put_libraries()
{
	local library listing

	# ldd fails for scripts and static programs: they need nothing.
	listing=$(LD_LIBRARY_PATH=$library_path ldd "$1" 2>/dev/null) || return 0
	[[ $listing != *"not found"* ]] || die "$1 needs a library that is not installed"
	while read -r library; do
		put "$library" "${library#"$root"}"
	done < <(sed -nE 's,^.*[[:space:]](/[^ ]+) \(0x[0-9a-f]+\)$,\1,p' <<<"$listing")
}

# owner FILE - "package version folder" of the package that a source file is from, if any
owner()
{
	local package

	if [[ -n $root && $1 == "$root"/* ]]; then
		package=$(awk -F'\t' -v file="${1#"$root"}" '$1 == file { print $2 }' "$root/../owners")
		[[ -n $package ]] || die "$1 is of no package"
		credit "$package"
	elif package=$(dpkg-query -S "$1" 2>/dev/null); then
		credit "$(sed -n '1s/:.*//p' <<<"$package")"
	fi
}

# credit PACKAGE - the same line, for a package that was unpacked to the root or is installed
credit()
{
	local version

	if [[ -n $root ]] && version=$(awk -v p="$1" '$1 == p { print $2; f = 1 } END { exit !f }' \
		"$root/../packages"); then
		echo "$1 $version $root/usr/share/doc"
	elif version=$(dpkg-query -W -f '${Version}\n' "$1" 2>/dev/null); then
		echo "$1 ${version%%$'\n'*} /usr/share/doc"
	else
		die "the package $1 is not installed"
	fi
}

# write_notice FILE PACKAGE... - packages, versions, and each different copyright file once
write_notice()
{
	local file=$1 package version folder text sum
	declare -A seen=()

	shift
	for text in "${sources[@]}"; do
		owner "$text"
	done >"$work/credits"
	for package; do
		credit "$package"
	done >>"$work/credits"
	sort -u "$work/credits" -o "$work/credits"
	{
		echo "This image holds files of these Debian packages; how each may be used, follows."
		echo
		cut -d' ' -f1,2 "$work/credits"
		while read -r package version folder; do
			text=$(realpath -e "$folder/$package")/copyright
			[[ -f $text ]] || text=$text.gz
			[[ -f $text ]] || die "$package has no copyright file"
			printf '\n==== %s %s ====\n\n' "$package" "$version"
			sum=$(zcat -f "$text" | sha256sum)
			if [[ -n ${seen[$sum]:-} ]]; then
				echo "The same as of ${seen[$sum]}."
			else
				seen[$sum]=$package
				zcat -f "$text"
			fi
		done <"$work/credits"
	} >"$file"
}

# replace NEW OLD - rename, unless both are equal
replace()
{
	cmp -s "$1" "$2" || mv -f "$1" "$2"
}

build=${O:-build}
name=kvm
init=lab-agent
programs=kvm-churn
root=
notice=
extras=()
folders=()
sources=()
while (($#)); do
	case $1 in
	--build | --output | --extra | --init | --programs | --root | --folder | --notice)
		(($# > 1)) || die "$1 needs a value"
		case $1 in
		--build) build=$2 ;;
		--output) name=$2 ;;
		--extra) extras+=("$2") ;;
		--init) init=$2 ;;
		--programs) programs=$2 ;;
		--root) root=$(realpath -e "$2") || die "$2 is no folder" ;;
		--folder) folders+=("$2") ;;
		--notice) notice=$2 ;;
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
put "$build/$init" /init
for program in $programs; do
	put "$build/$program" "/bin/$program"
done
for folder in "${folders[@]}"; do
	[[ $folder =~ ^/[A-Za-z0-9._+/-]+$ && $folder != *..* ]] || die "\"$folder\" is no path for the image"
	mkdir -p "$stage$folder"
done
library_path=
if [[ -n $root ]]; then
	library_path=$(printf '%s:' "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu)
	library_path=${library_path%:}
fi
for extra in "${extras[@]}"; do
	[[ $extra == *:/* ]] || die "--extra wants HOSTPATH:GUESTPATH, not \"$extra\""
	put "${extra%:*}" "${extra##*:}"
	put_libraries "${extra%:*}"
done
if [[ -n $notice ]]; then
	# shellcheck disable=SC2086 # a list of words
	write_notice "$work/notice" $notice
	install -D -m 644 "$work/notice" "$stage/usr/share/doc/NOTICE"
fi

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
[[ -z $notice ]] || replace "$work/notice" "$images/$name.notice"

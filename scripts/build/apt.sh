# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Fetching Debian's sources and packages into the cache (sourced, after series.sh). Needs no root, and
# changes nothing of the system's: apt gets a state of its own in $LABD_CACHE/apt, with lists made
# from the machine's own configuration. Only called for what is not in the cache yet.

APT=$CACHE/apt

# apt_sources FILE... - what the machine has, each with its sources beside its packages
apt_sources()
{
	local file

	for file; do
		[ -r "$file" ] || continue
		case $file in
		*.sources)	sed -E 's/^Types:.*/Types: deb deb-src/I' "$file" \
					>"$APT/etc/${file##*/}" ;;
		*.list)		sed -nE '/^[[:space:]]*deb[[:space:]]/ {
					p
					s/deb/deb-src/p
				}' "$file" >"$APT/etc/${file##*/}" ;;
		esac
	done
}

# apt_update - the private state, with fresh lists; once per process and lock
#
# A source that is down is no error here: whether what is wanted can be had will show.
apt_update()
{
	local list parts

	mkdir -p "$APT"
	exec 8>"$APT/lock"
	flock 8
	rm -rf "${APT:?}/etc"
	mkdir -p "$APT"/{etc,lists/partial,archives/partial}
	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	apt_sources "${list:-/etc/apt/sources.list}" "${parts:-/etc/apt/sources.list.d}"/*

	# The system's hooks would work on the system's lists and archives.
	cat >"$APT/apt.conf" <<-EOT
	Dir::Etc::sourcelist "/dev/null";
	Dir::Etc::sourceparts "$APT/etc";
	Dir::State::lists "$APT/lists";
	Dir::Cache "$APT";
	Dir::Cache::archives "$APT/archives";
	Acquire::Languages "none";
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	EOT
	echo "asking apt for its newest lists" >&2
	apt-get -c "$APT/apt.conf" update >"$APT/log" 2>&1 || :
}

# apt_versions PACKAGE [source] - versions that can be asked for, newest first
apt_versions()
{
	if [ "${2:-}" = source ]; then
		apt-cache -c "$APT/apt.conf" showsrc --only-source "$1" 2>/dev/null |
			sed -n 's/^Version: //p'
	else
		apt-cache -c "$APT/apt.conf" madison "$1" 2>/dev/null |
			sed -nE '/ Sources$/!s/^[^|]*\| *([^ |]+) .*/\1/p'
	fi | sort -rV | uniq
}

# apt_fetch DIR PACKAGE=VERSION... - download packages into DIR, verified by apt
apt_fetch()
{
	local dir=$1

	shift
	(cd "$dir" && apt-get -c "$APT/apt.conf" download "$@") >>"$APT/log" 2>&1
}

# apt_fetch_source DIR PACKAGE=VERSION - download a source package into DIR, verified by apt
apt_fetch_source()
{
	(cd "$1" && apt-get -c "$APT/apt.conf" source --download-only "$2") >>"$APT/log" 2>&1
}

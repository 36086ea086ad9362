# What the scripts need of other programs: the versions, and how they are compared. Sourced by them, and by each with its own reason:
#
#     . "$here/versions.sh"
#     if ! have_node; then …
#
# shellcheck shell=sh disable=SC2034

# The oldest version of each that has what is used.
node_wanted=20.10   # the agents of examples/: the global crypto; what the locks of npm list as "engines"
curl_wanted=7.76    # docs/web.md: --fail-with-body
python_wanted=3.10  # clients/python/pyproject.toml
grpcio_wanted=1.48  # clients/python/pyproject.toml
protobuf_wanted=3.20
setuptools_wanted=64
protoc_wanted=3.15  # the protos: optional, without a flag
browser_wanted=121  # internal/browser/observer: the options of checkVisibility

# The root of the checkout; a script may be called from anywhere.
root=$(cd "$(dirname "$0")/.." && pwd)

# Node of scripts/install-node, where that of the machine is too old.
if [ -x "$root/.cache/node/bin/node" ]; then
	PATH=$root/.cache/node/bin:$PATH
	export PATH
fi

# version_in TEXT prints the first version in a text, such as 3.21.12 of "libprotoc 3.21.12"; nothing when there is none.
version_in() {
	printf '%s\n' "$1" | sed -n 's/^\([^0-9]*\)\([0-9][0-9]*\(\.[0-9][0-9]*\)*\).*/\2/p' | head -n 1
}

# at_least WANTED HAVE compares versions number by number: 20.10 is later than 20.9, and 20 is 20.0. No version is older than any.
at_least() {
	[ -n "$2" ] && awk -v wanted="$1" -v have="$2" 'BEGIN {
		n = split(wanted, w, "."); split(have, h, ".")
		for (i = 1; i <= n; i++) if (h[i] + 0 != w[i] + 0) exit (h[i] + 0 < w[i] + 0)
	}'
}

# version_of COMMAND prints the version of a program, as it says itself; nothing when it does not start.
version_of() {
	if command -v "$1" >/dev/null 2>&1 && said=$("$1" --version 2>/dev/null </dev/null); then
		version_in "$said"
	fi
}

# described NAME WANTED HAVE says in words what is wrong.
described() {
	if [ -z "$3" ]; then
		echo "no $1"
	else
		echo "$1 $3, older than $2"
	fi
}

have_node() { at_least "$node_wanted" "$(version_of node)" && [ -n "$(version_of npm)" ]; }

# skip WHAT WHY ends a script whose work is not necessary: tests that need it are skipped. CI does without none.
skip() {
	echo "Skipped: $1: $2." >&2
	[ -z "${CI:-}" ] || exit 1
	exit 0
}

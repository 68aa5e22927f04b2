#!/bin/sh
# Downloads a release of OpenTofu and checks it before anything of it is unpacked.
# Usage: install-opentofu.sh VERSION ARCHITECTURE DIGEST DIRECTORY
# DIGEST is the SHA-256 of the release's own list of checksums, tofu_VERSION_SHA256SUMS: one digest pins the program
# for every architecture.
set -eu

version=$1
architecture=$2
digest=$3
directory=$4
releases=${OPENTOFU_RELEASES:-https://github.com/opentofu/opentofu/releases/download}

case $digest in
  *[!0-9a-f]* | '') echo "Give the SHA-256 of tofu_${version}_SHA256SUMS as OPENTOFU_SHA256SUMS." >&2; exit 1 ;;
esac

sums="tofu_${version}_SHA256SUMS"
archive="tofu_${version}_linux_${architecture}.tar.gz"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
curl -fsSL --retry 3 -o "$sums" "$releases/v$version/$sums"
echo "$digest  $sums" | sha256sum -c - >&2
curl -fsSL --retry 3 -o "$archive" "$releases/v$version/$archive"
grep "  $archive\$" "$sums" > wanted
sha256sum -c wanted >&2
tar -xzf "$archive" tofu
install -m 0755 tofu "$directory/tofu"

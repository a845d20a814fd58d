#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a NoCloud ISO (label cidata) from its files, here or on a KVM host. Needs Node, and ssh for --host; neither
# cloud-localds nor genisoimage. The same files always give the same bytes.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: create-cloudinit-iso.sh --meta-data FILE --network-config FILE [--user-data FILE] --output PATH [--host USER@HOST]

  --output PATH      where the ISO is written, mode 0600; on the host when --host is given
  --host USER@HOST   KVM host that is reached over ssh

Example: create-cloudinit-iso.sh --meta-data meta-data --network-config network-config \
           --output /var/lib/libvirt/images/talos-cp-1.iso --host root@kvm.example.com
TEXT
}

files=()
output=""
host=""
while [ $# -gt 0 ]; do
  case "$1" in
    --meta-data | --network-config | --user-data)
      [ $# -ge 2 ] || { echo "$1: expected a file after it" >&2; exit 64; }
      [ -r "$2" ] || { echo "$1: cannot read $2" >&2; exit 64; }
      files+=("${1#--}=$2")
      shift 2
      ;;
    --output) output="${2:?--output: expected a path after it}"; shift 2 ;;
    --host) host="${2:?--host: expected user@host after it}"; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option $1" >&2; usage >&2; exit 64 ;;
  esac
done
[ -n "$output" ] || { echo "--output is missing" >&2; usage >&2; exit 64; }

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build() { (cd "$here/.." && exec node --import tsx scripts/create-cloudinit-iso.ts "${absolute[@]}"); }

absolute=()
for file in "${files[@]}"; do
  path="${file#*=}"
  absolute+=("${file%%=*}=$(cd "$(dirname "$path")" && pwd)/$(basename "$path")")
done

# A whole image or none: written beside its place, then moved there.
# shellcheck disable=SC2016 # expanded by the shell that runs it, with the path as $1
place='umask 077; cat > "$1.part" && [ -s "$1.part" ] && mv "$1.part" "$1" || { rm -f "$1.part"; exit 1; }'
if [ -n "$host" ]; then
  build | ssh -- "$host" "sh -c $(printf %q "$place") sh $(printf %q "$output")"
else
  build | sh -c "$place" sh "$output"
fi
echo "wrote ${host:+$host:}$output" >&2

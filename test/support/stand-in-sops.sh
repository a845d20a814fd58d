#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for sops: `--encrypt … /dev/stdin` gives a file that only looks as one of sops does.
case "$1" in
--encrypt) echo "data: ENC[$(tr -dc 'a-z' | head -c 40)]" && echo "sops: { version: 3.9.0 }" ;;
*) echo "the stand-in for sops only encrypts" >&2 && exit 1 ;;
esac

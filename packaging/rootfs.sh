#!/usr/bin/env bash
# Lays out the whole file system of the image: the executable, the shared libraries that it names,
# certificate authorities, a user, licences, and two empty folders. No shell, no package manager.
#
#     packaging/rootfs.sh FOLDER [EXECUTABLE]
#
# FOLDER must not be there yet. EXECUTABLE is target/dist/trapline when left out.
set -euo pipefail
HERE="$(cd "$(dirname "$0")" && pwd)"
readonly HERE
readonly ROOT="${1:?packaging/rootfs.sh FOLDER [EXECUTABLE]}"
readonly BINARY="${2:-$HERE/../target/dist/trapline}"
readonly AUTHORITIES=/etc/ssl/certs/ca-certificates.crt

fail() {
  echo "packaging/rootfs.sh: $1" >&2
  exit 1
}
[[ -e "$ROOT" ]] && fail "$ROOT is there already"
[[ -x "$BINARY" ]] || fail "there is no executable at $BINARY: cargo build --profile dist -p trapline"
[[ -r "$AUTHORITIES" ]] || fail "install ca-certificates first"

# The paths that the loader would open, the loader's own among them; none for a static executable.
libraries() {
  ldd "$BINARY" 2>/dev/null | grep -o '/[^ ]*' | sort -u || true
}

# What is said of the licences of a library, where Debian's package has it.
copyright_of() {
  local package
  # Packages name files by either path where /lib is a link.
  package="$(dpkg -S "$1" "$(realpath "$1")" 2>/dev/null | cut -d: -f1 | head -n 1 || true)"
  [[ -n "$package" && -r "/usr/share/doc/$package/copyright" ]] || return 0
  install -Dm644 "/usr/share/doc/$package/copyright" "$ROOT/usr/share/doc/$package/copyright"
}

umask 022
install -Dm755 "$BINARY" "$ROOT/usr/bin/trapline"
while read -r library; do
  [[ -n "$library" ]] || continue
  install -Dm755 "$(realpath "$library")" "$ROOT$library"
  copyright_of "$library"
done < <(libraries)
install -Dm644 "$AUTHORITIES" "$ROOT$AUTHORITIES"
for notice in LICENSE THIRD_PARTY_NOTICES.md; do
  install -Dm644 "$HERE/../$notice" "$ROOT/usr/share/doc/trapline/$notice"
done
printf 'root:x:0:0::/:/nonexistent\ntrapline:x:65532:65532::/data:/nonexistent\n' >"$ROOT/etc/passwd"
printf 'root:x:0:\ntrapline:x:65532:\n' >"$ROOT/etc/group"
install -d -m700 "$ROOT/data"
install -d -m1777 "$ROOT/tmp"

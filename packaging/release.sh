#!/usr/bin/env bash
# Makes what a release is: an archive for one machine, the image, the chart, the list of components (SBOM), and
# their sums. Two runs over one commit, in whichever folders, make the same bytes.
#
#     packaging/release.sh FOLDER [EXECUTABLE]
#
# FOLDER must not be there yet. Without EXECUTABLE it is built. RELEASE_KEY names an SSH key that signs the sums.
set -euo pipefail
HERE="$(cd "$(dirname "$0")" && pwd)"
readonly HERE
readonly TOP="$HERE/.."
readonly OUT="${1:?packaging/release.sh FOLDER [EXECUTABLE]}"
[[ -e "$OUT" ]] && {
  echo "packaging/release.sh: $OUT is there already" >&2
  exit 1
}
mkdir -p "$OUT"
TARGET="$(rustc -vV | sed -n 's/^host: //p')"
VERSION="$(sed -n 's/^version = "\(.*\)"/\1/p' "$TOP/Cargo.toml" | head -n 1)"
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$TOP" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
readonly TARGET VERSION

# No path of this machine gets into the executable.
build() {
  local paths="--remap-path-prefix=$(realpath "$TOP")=/trapline --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
  RUSTFLAGS="${RUSTFLAGS:-} $paths" cargo build --manifest-path "$TOP/Cargo.toml" --locked --profile dist -p trapline
}

# Packs a folder of the staging area, the same way each time.
pack() {
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --format=gnu -C "$STAGING" -c "$1" | gzip -9n >"$2"
}

BINARY="${2:-}"
if [[ -z "$BINARY" ]]; then
  build
  BINARY="${CARGO_TARGET_DIR:-$TOP/target}/dist/trapline"
fi
STAGING="$(mktemp -d)"
trap 'rm -rf "$STAGING"' EXIT

name="trapline-$VERSION-$TARGET"
install -Dm755 "$BINARY" "$STAGING/$name/trapline"
for file in packaging/trapline.service LICENSE THIRD_PARTY_NOTICES.md CHANGELOG.md; do
  install -Dm644 "$TOP/$file" "$STAGING/$name/$(basename "$file")"
done
mkdir "$STAGING/$name/completions"
"$BINARY" man >"$STAGING/$name/trapline.1"
for shell in bash zsh fish; do
  "$BINARY" completions "$shell" >"$STAGING/$name/completions/trapline.$shell"
done
pack "$name" "$OUT/$name.tar.gz"

cp -r "$TOP/helm/trapline" "$STAGING/trapline"
rm -r "$STAGING/trapline/ci"
pack trapline "$OUT/trapline-chart-$VERSION.tgz"

"$HERE/rootfs.sh" "$STAGING/root" "$BINARY"
python3 "$HERE/oci.py" "$STAGING/root" "$OUT/trapline-image-$VERSION-$TARGET.tar" >"$STAGING/digest"
python3 "$HERE/sbom.py" "$TARGET" >"$OUT/trapline-$VERSION.cdx.json"
(cd "$OUT" && sha256sum -- * >"$STAGING/SHA256SUMS" && mv "$STAGING/SHA256SUMS" .)
if [[ -n "${RELEASE_KEY:-}" ]]; then
  ssh-keygen -q -Y sign -f "$RELEASE_KEY" -n trapline "$OUT/SHA256SUMS"
fi
echo "$OUT has Trapline $VERSION for $TARGET; the image is $(cat "$STAGING/digest")"

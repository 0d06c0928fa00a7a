#!/bin/bash
# The first start of the machine: the release, its unit, and the volume as its folder.
set -euo pipefail
cd "$(mktemp -d)"
curl --fail --silent --show-error --location --retry 10 --retry-all-errors --output release.tar.gz '${url}'
echo '${sha256}  release.tar.gz' | sha256sum --check --quiet
tar --extract --gzip --strip-components=1 --file release.tar.gz
install -Dm755 trapline /usr/local/bin/trapline
install -Dm644 trapline.service /etc/systemd/system/trapline.service
install -Dm600 /dev/stdin /etc/trapline/trapline.env <<'SETTINGS'
${environment}
SETTINGS

# The volume is attached after the machine has started.
device=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${volume}
for _ in $(seq 150); do
  [[ -e "$device" ]] && break
  sleep 2
done
blkid "$device" || mkfs.ext4 -q "$device"
mkdir -p /var/lib/private
chmod 700 /var/lib/private
mkdir -p /var/lib/private/trapline
echo "$device /var/lib/private/trapline ext4 defaults,nofail 0 2" >>/etc/fstab
mount /var/lib/private/trapline
systemctl daemon-reload
systemctl enable --now trapline

#!/usr/bin/env bash
# swaks: every mechanism, STARTTLS, implicit TLS, pipelining and an attachment.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
printf 'a,b\n1,2\n' >"$folder/table.csv"
sum="$(sha256sum <"$folder/table.csv" | cut -d' ' -f1)"
attachment="{\"filename\":\"table.csv\",\"contentType\":\"text/csv\",\"sha256\":\"$sum\"}"

send() { # send NAME PORT ATTACHMENTS OPTION…
  local subject="swaks $1" port="$2" attachments="$3"
  shift 3
  swaks --silent 3 --server "$SMTP_HOST" --port "$port" \
    --auth-user "$SMTP_USER" --auth-password "$SMTP_PASSWORD" \
    --from sender@app.test --to receiver@app.test,second@app.test \
    --header "Subject: $subject" --body "Hello from swaks." "$@" >&2
  printf '{"subject":"%s","from":"sender@app.test","to":["receiver@app.test","second@app.test"],' "$subject"
  printf '"text":"Hello from swaks.","attachments":[%s]}\n' "$attachments"
}

verify=(--tls-verify --tls-ca-path "$SMTP_CA")
send PLAIN "$SMTP_PORT" "" --auth PLAIN
send LOGIN "$SMTP_PORT" "" --auth LOGIN
send CRAM-MD5 "$SMTP_PORT" "" --auth CRAM-MD5
send pipelined "$SMTP_PORT" "" --auth PLAIN --pipeline
send STARTTLS "$SMTP_PORT" "" --auth PLAIN --tls "${verify[@]}"
send implicit-TLS "$SMTPS_PORT" "" --auth CRAM-MD5 --tls-on-connect "${verify[@]}"
send attachment "$SMTP_PORT" "$attachment" --auth LOGIN \
  --attach-type text/csv --attach-name table.csv --attach "@$folder/table.csv"

#!/usr/bin/env bash
# Makes clients from the OpenAPI document of a running server, compiles them, and makes three calls with
# each. Usage: run.sh URL KEY [lint|typescript|python|oapi-codegen|generator-go|generator-java]…, all of
# them when none is named. Installs what it needs into tests/.tools/openapi at the first run.
set -euo pipefail
cd "$(dirname "$0")"
readonly HERE="$PWD" TOOLS="$PWD/../../.tools/openapi"
readonly OAPI_CODEGEN=v2.8.2 GENERATOR=7.16.0
export TRAPLINE_URL="$1" TRAPLINE_API_KEY="$2"
shift 2
(($# > 0)) || set -- lint typescript python oapi-codegen generator-go generator-java

mkdir -p "$TOOLS"
WORK="$(mktemp -d)"
readonly WORK
trap 'rm -rf "$WORK"' EXIT
readonly DOCUMENT="$WORK/openapi.json"
curl --fail --silent --show-error "$TRAPLINE_URL/api/openapi.json" --output "$DOCUMENT"

node_tools() {
  cmp --silent package-lock.json "$TOOLS/node.stamp" && return
  cp package.json package-lock.json "$TOOLS/"
  (cd "$TOOLS" && npm ci --ignore-scripts --no-audit --no-fund --loglevel error)
  cp package-lock.json "$TOOLS/node.stamp"
}

python_tools() {
  cmp --silent requirements.txt "$TOOLS/requirements.txt" && return
  python3 -m venv "$TOOLS/python"
  "$TOOLS/python/bin/pip" install --quiet --requirement requirements.txt
  cp requirements.txt "$TOOLS/"
}

generate() { # generate LANGUAGE FOLDER OPTION…
  local jar="$TOOLS/openapi-generator-cli-$GENERATOR.jar" language="$1" folder="$2"
  shift 2
  if [[ ! -f "$jar" ]]; then
    mvn --quiet --batch-mode dependency:copy -DoutputDirectory="$TOOLS" \
      -Dartifact="org.openapitools:openapi-generator-cli:$GENERATOR" </dev/null
  fi
  java -jar "$jar" generate -g "$language" -i "$DOCUMENT" -o "$folder" "$@" >"$WORK/generator.log" \
    || { cat "$WORK/generator.log" >&2; return 1; }
}

# Whatever a linter finds, warnings too, is a fault of the document.
lint() {
  node_tools
  echo 'extends: ["spectral:oas"]' >"$WORK/.spectral.yaml"
  "$TOOLS/node_modules/.bin/spectral" lint --ruleset "$WORK/.spectral.yaml" --fail-severity hint "$DOCUMENT"
  REDOCLY_TELEMETRY=off "$TOOLS/node_modules/.bin/redocly" lint --format json "$DOCUMENT" >"$WORK/redocly.json"
  python3 -c 'import json, sys; found = json.load(sys.stdin)["problems"]; sys.exit(str(found) if found else 0)' \
    <"$WORK/redocly.json"
}

typescript() {
  node_tools
  cp -r typescript "$WORK/"
  ln -s "$TOOLS/node_modules" "$WORK/typescript/node_modules"
  "$TOOLS/node_modules/.bin/openapi-typescript" "$DOCUMENT" --output "$WORK/typescript/schema.d.ts" >/dev/null
  (cd "$WORK/typescript" && node_modules/.bin/tsc --project . && node client.js)
}

python() {
  python_tools
  cp -r python "$WORK/"
  local bin="$TOOLS/python/bin"
  "$bin/openapi-python-client" generate --path "$DOCUMENT" --meta none --output-path "$WORK/python/trapline" \
    >"$WORK/python.log" 2>&1 || { cat "$WORK/python.log" >&2; return 1; }
  "$bin/datamodel-codegen" --input "$DOCUMENT" --input-file-type openapi --output "$WORK/python/models.py" \
    --output-model-type pydantic_v2.BaseModel --formatters builtin
  (cd "$WORK/python" && "$bin/python" client.py)
}

oapi-codegen() {
  cp -r oapi-codegen "$WORK/"
  (
    cd "$WORK/oapi-codegen"
    go mod init client
    go run "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$OAPI_CODEGEN" \
      -package api -generate types,client -o api/api.go "$DOCUMENT"
    go mod tidy
    go run .
  )
}

generator-go() {
  cp -r generator-go "$WORK/"
  generate go "$WORK/generator-go/trapline" --package-name trapline \
    --git-user-id example.test --git-repo-id trapline
  (
    cd "$WORK/generator-go"
    # The generator's own tests call a server that is not there.
    rm -r trapline/test trapline/go.mod trapline/go.sum
    go mod init client
    go mod tidy
    go run .
  )
}

generator-java() {
  generate java "$WORK/generator-java" --library native --additional-properties=hideGenerationTimestamp=true
  cp generator-java/Client.java "$WORK/generator-java/src/main/java/"
  cd "$WORK/generator-java"
  mvn --quiet --batch-mode -Dmaven.test.skip=true compile dependency:build-classpath \
    -Dmdep.outputFile=classpath </dev/null
  java -cp "target/classes:$(<classpath)" Client
  cd "$HERE"
}

for part in "$@"; do
  echo "$part"
  "$part"
done

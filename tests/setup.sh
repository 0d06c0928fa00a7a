#!/usr/bin/env bash
# Installs what the end-to-end tests need beside Rust: foreign SMTP clients, a browser, an API fuzzer,
# the services behind a cluster, and Helm. Everything that is not a Debian package lands in tests/.tools. A
# second run finds it all.
set -euo pipefail
cd "$(dirname "$0")"
readonly TOOLS="$PWD/.tools"
mkdir -p "$TOOLS/stamps"

# Debian packages, each wanted only where its probe fails.
missing=()
want() { # want PACKAGES PROBE…
  local packages="$1"
  shift
  # shellcheck disable=SC2206 # a list of packages
  "$@" >/dev/null 2>&1 || missing+=($packages)
}
want build-essential command -v cc
want python3-venv python3 -c 'import ensurepip, venv'
want nodejs command -v node
want npm command -v npm
want golang-go command -v go
want default-jdk-headless command -v javac
want maven command -v mvn
want swaks command -v swaks
want prometheus command -v promtool
want redis-server command -v redis-server
want "libdigest-hmac-perl libnet-ssleay-perl libauthen-sasl-perl" \
  perl -MDigest::HMAC_MD5 -MNet::SSLeay -MAuthen::SASL -e 1
want chromium command -v chromium
want umoci command -v umoci
want systemd command -v systemd-analyze
want haproxy command -v haproxy
want nginx command -v nginx
want mandoc command -v mandoc
want xmlsec1 command -v xmlsec1
want "spamd spamc" command -v spamd
want rspamd command -v rspamd

if ((${#missing[@]} > 0)); then
  if ((EUID != 0)); then
    echo "tests/setup.sh: install these Debian packages first: ${missing[*]}" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

# Runs a step unless its inputs are those of the last time. The folder counts as an input because
# a virtual environment does not survive a move.
step() { # step NAME FUNCTION INPUT…
  local name="$1" work="$2" stamp="$TOOLS/stamps/$1" now
  shift 2
  now="$(pwd; cat "$@" | sha256sum)"
  [[ -f "$stamp" && "$(<"$stamp")" == "$now" ]] && return
  echo "tests/setup.sh: $name"
  "$work"
  printf '%s\n' "$now" >"$stamp"
}

python_tools() {
  rm -rf "$TOOLS/python"
  python3 -m venv "$TOOLS/python"
  "$TOOLS/python/bin/pip" install --quiet --no-deps --requirement clients/python/requirements.txt
}

lint_tools() {
  rm -rf "$TOOLS/lint"
  python3 -m venv "$TOOLS/lint"
  "$TOOLS/lint/bin/pip" install --quiet --no-deps --requirement requirements-lint.txt
}

# Wheels without compiled parts where there are some, so that one hash holds on every machine; else one for each.
mocks_tools() {
  rm -rf "$TOOLS/mocks"
  python3 -m venv "$TOOLS/mocks"
  "$TOOLS/mocks/bin/pip" install --quiet --no-deps --require-hashes --only-binary :all: \
    --requirement clients/mocks/requirements.txt
  # These have no wheel.
  "$TOOLS/mocks/bin/pip" install --quiet --no-deps --require-hashes --no-build-isolation \
    --requirement clients/mocks/requirements-source.txt
}

mocks_node_tools() {
  mkdir -p "$TOOLS/mocks-node"
  cp clients/mocks/package.json clients/mocks/package-lock.json "$TOOLS/mocks-node/"
  npm ci --prefix "$TOOLS/mocks-node" --ignore-scripts --no-audit --no-fund --silent
}

node_tools() {
  mkdir -p "$TOOLS/node"
  cp clients/node/package.json clients/node/package-lock.json "$TOOLS/node/"
  npm ci --prefix "$TOOLS/node" --ignore-scripts --no-audit --no-fund --silent
}

# What mail is signed and checked by, beside dkimpy, to compare verdicts with.
dkim_tools() {
  mkdir -p "$TOOLS/dkim"
  cp clients/dkim/package.json clients/dkim/package-lock.json "$TOOLS/dkim/"
  npm ci --prefix "$TOOLS/dkim" --ignore-scripts --no-audit --no-fund --silent
}

openapi_tools() {
  mkdir -p "$TOOLS/openapi"
  cp clients/openapi/package.json clients/openapi/package-lock.json "$TOOLS/openapi/"
  npm ci --prefix "$TOOLS/openapi" --ignore-scripts --no-audit --no-fund --silent
  cp clients/openapi/package-lock.json "$TOOLS/openapi/node.stamp"
}

saml_tools() {
  rm -rf "$TOOLS/saml"
  python3 -m venv "$TOOLS/saml"
  "$TOOLS/saml/bin/pip" install --quiet --no-deps --require-hashes \
    --requirement clients/saml/requirements.txt
  cp clients/saml/package.json clients/saml/package-lock.json "$TOOLS/saml/"
  npm ci --prefix "$TOOLS/saml" --ignore-scripts --no-audit --no-fund --silent
}

identity_tools() {
  mkdir -p "$TOOLS/identity"
  cp clients/identity/package.json clients/identity/package-lock.json "$TOOLS/identity/"
  npm ci --prefix "$TOOLS/identity" --ignore-scripts --no-audit --no-fund --silent
}

# The clients that sign in at mock identity providers.
oidc_tools() {
  rm -rf "$TOOLS/oidc"
  mkdir -p "$TOOLS/oidc"
  cp clients/oidc/package.json clients/oidc/package-lock.json "$TOOLS/oidc/"
  npm ci --prefix "$TOOLS/oidc" --ignore-scripts --no-audit --no-fund --silent
  python3 -m venv "$TOOLS/oidc/python"
  "$TOOLS/oidc/python/bin/pip" install --quiet --no-deps --require-hashes \
    --requirement clients/oidc/requirements.txt
  (cd clients/oidc && go build -o "$TOOLS/oidc/signin" signin.go)
}

go_tools() {
  (cd clients/go && go build -o "$TOOLS/netsmtp" .)
}

saml_go_tools() {
  (cd clients/saml/go && go build -o "$TOOLS/samlsp" .)
}

# The jars that a program needs at run time.
jars() { # jars POM FOLDER
  if ! mvn --batch-mode --file "$1" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$2" </dev/null >"$TOOLS/maven.log" 2>&1; then
    cat "$TOOLS/maven.log" >&2
    return 1
  fi
}

java_tools() {
  rm -rf "$TOOLS/jakarta"
  jars clients/jakarta/pom.xml "$TOOLS/jakarta"
  javac -d "$TOOLS/jakarta/classes" -cp "$TOOLS/jakarta/*" clients/jakarta/Client.java
}

# An application of Spring Boot that signs people in.
spring_tools() {
  rm -rf "$TOOLS/spring"
  jars clients/oidc/pom.xml "$TOOLS/spring"
  # It finds the names of parameters by -parameters.
  javac -parameters -d "$TOOLS/spring/classes" -cp "$TOOLS/spring/*" clients/oidc/SignIn.java
}

services_tools() {
  rm -rf "$TOOLS/services"
  python3 -m venv "$TOOLS/services"
  "$TOOLS/services/bin/pip" install --quiet --no-deps --require-hashes \
    --requirement services/requirements.txt
}

cassandra_jars() {
  rm -rf "$TOOLS/cassandra"
  jars services/cassandra/pom.xml "$TOOLS/cassandra/lib"
  # Cassandra starts without the archive too, only slower.
  services/run.py archive || rm -f "$TOOLS/cassandra/classes.jsa"
}

operate_tools() {
  rm -rf "$TOOLS/operate"
  python3 -m venv "$TOOLS/operate"
  "$TOOLS/operate/bin/pip" install --quiet --no-deps --requirement operate/requirements.txt
}

loadtest_tools() {
  mkdir -p "$TOOLS/loadtest"
  cp ../loadtest/package.json ../loadtest/package-lock.json "$TOOLS/loadtest/"
  npm ci --prefix "$TOOLS/loadtest" --ignore-scripts --no-audit --no-fund --silent
}

helm_tool() {
  GOFLAGS=-mod=mod GOBIN="$TOOLS" go install -ldflags='-s -w' \
    "helm.sh/helm/v3/cmd/helm@$(<operate/helm.version)"
}

types_tool() {
  (cd operate/types && go build -o "$TOOLS/types" .)
}

step python python_tools clients/python/requirements.txt
step lint lint_tools requirements-lint.txt
step mocks mocks_tools clients/mocks/requirements.txt clients/mocks/requirements-source.txt
step mocks-node mocks_node_tools clients/mocks/package.json clients/mocks/package-lock.json
step node node_tools clients/node/package.json clients/node/package-lock.json
step dkim dkim_tools clients/dkim/package.json clients/dkim/package-lock.json
step openapi openapi_tools clients/openapi/package.json clients/openapi/package-lock.json
step identity identity_tools clients/identity/package.json clients/identity/package-lock.json
step oidc oidc_tools clients/oidc/package.json clients/oidc/package-lock.json \
  clients/oidc/requirements.txt clients/oidc/go.mod clients/oidc/go.sum clients/oidc/signin.go
step saml saml_tools clients/saml/requirements.txt clients/saml/package.json \
  clients/saml/package-lock.json
step go go_tools clients/go/go.mod clients/go/main.go
step saml-go saml_go_tools clients/saml/go/go.mod clients/saml/go/go.sum clients/saml/go/main.go
step jakarta java_tools clients/jakarta/pom.xml clients/jakarta/Client.java
step spring spring_tools clients/oidc/pom.xml clients/oidc/SignIn.java
step services services_tools services/requirements.txt
step cassandra cassandra_jars services/cassandra/pom.xml services/cassandra/jvm.options
step operate operate_tools operate/requirements.txt
step loadtest loadtest_tools ../loadtest/package.json ../loadtest/package-lock.json
step helm helm_tool operate/helm.version
step types types_tool operate/types/go.mod operate/types/go.sum operate/types/main.go

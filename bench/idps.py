#!/usr/bin/env python3
"""Measures what mock identity providers cost one process.

    bench/idps.py target/dist/trapline
    bench/idps.py target/dist/trapline --rivals 1

Prints the server's CPU for a sign-in (authorize with auto-login, and token) with each algorithm, beside the
signatures of the same run; for the documents and introspection; how long authorize and token take at 16
clients; what a new provider and its tenants cost; and how long mail takes beside 200 sign-ins a second.
Everything is synced to disk. With `--rivals 1` the sign-in is measured by turns with oauth2-mock-server and
oidc-provider, which npm fetches and which keep all in memory. smtpblast is that of the `dist` profile.
"""

import base64
import collections
import contextlib
import hashlib
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

from lib import rivals
from lib.cost import cpu, spread, timed
from lib.load import Load, by_turns, mail_beside
from lib.rest import Answer, Failed, Http
from lib.servers import Trapline
from lib.standalone import measurement

METRICS_TOKEN = "a-token-for-measuring"
VERIFIER = "a-verifier-of-some-forty-three-letters-or-more"
CALLBACK = "http://127.0.0.1:9/callback"
CLIENTS = 16
# Sign-ins a second beside mail, and mails a second.
RATE = 200
MAIL_RATE = 500
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


class Served(Trapline):
    """With metrics that can be read."""

    def environment(self) -> dict[str, str]:
        return super().environment() | {"METRICS_TOKEN": METRICS_TOKEN}

    def signatures(self) -> tuple[int, float]:
        """How many were made so far, and their seconds together."""
        http = Http(self.http_port, METRICS_TOKEN)
        text = http.exchange(http.bytes_of("GET", "/api/metrics")).body.decode()
        http.close()

        def total(end: str) -> float:
            name = f"trapline_idp_signature_seconds_{end}"
            return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

        return int(total("count")), total("sum")


class Client:
    """An application with a connection of its own to a provider, of which it knows the endpoints' paths."""

    def __init__(self, port: int, paths: dict[str, str], client_id: str, secret: str) -> None:
        self.http, self.paths = Http(port), paths
        self.form = {"client_id": client_id, "client_secret": secret}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
        asked = {
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "scope": "openid profile email",
            "state": "a-state",
            "nonce": "a-nonce",
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        self.asked = f"{paths['authorize']}?{urlencode(asked)}"
        self.authorization = self.http.bytes_of("GET", self.asked)

    def with_cookies(self, cookies: str) -> None:
        self.authorization = self.http.bytes_of("GET", self.asked, headers=f"Cookie: {cookies}\r\n")

    def post(self, path: str, form: dict[str, str]) -> Answer:
        body = urlencode(form).encode()
        headers = f"{FORM}Content-Length: {len(body)}\r\n"
        answer = self.http.exchange(self.http.bytes_of("POST", path, headers=headers) + body)
        if answer.status >= 300:
            raise Failed(f"{path}: {answer.status} {answer.body[:300]!r}")
        return answer

    def authorize(self) -> str:
        answer = self.http.exchange(self.authorization)
        query = parse_qs(urlsplit(answer.headers.get("location", "")).query)
        if "code" not in query:
            raise Failed(f"{answer.status} {answer.headers} {answer.body[:300]!r}")
        return query["code"][0]

    def redeem(self, code: str) -> dict:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        answer = self.post(self.paths["token"], self.form | form | {"code_verifier": VERIFIER})
        return json.loads(answer.body)

    def sign_in(self) -> dict:
        return self.redeem(self.authorize())

    def close(self) -> None:
        self.http.close()


def main() -> int:
    numbers = {"rounds": 5, "requests": 2_000, "seconds": 20, "providers": 100, "rivals": 0}
    with measurement(__doc__, **numbers) as arguments:
        with Served() as server:
            provider = made(server)
            algorithms(server, provider, arguments.rounds, arguments.requests)
            reads(server, provider, arguments.requests)
            at_once(server, provider, arguments.requests)
            tenants(server, arguments.providers, arguments.requests)
        if arguments.rivals:
            beside_rivals(arguments.rounds, arguments.requests)
        beside_mail(arguments.rounds, arguments.seconds)
    return 0


def made(server: Served) -> dict:
    """A provider that signs its only user in without being asked."""
    http = server.http()
    provider = http.json("POST", "/api/idps", {"name": "Measured", "redirectUris": [CALLBACK]})
    path = f"/api/idps/{provider['id']}"
    user = http.json("POST", f"{path}/users", {"email": "ada@example.com", "name": "Ada"})
    provider = http.json("PATCH", path, {"autoLoginUserId": user["id"]})
    http.close()
    return provider


def client(server: Served, provider: dict) -> Client:
    base = f"/idp/{provider['slug']}"
    paths = {name: f"{base}/{name}" for name in ("authorize", "token", "introspect", "jwks")}
    return Client(server.http_port, paths, provider["clientId"], provider["clientSecret"])


def algorithms(server: Served, provider: dict, rounds: int, times: int) -> None:
    found, signed = collections.defaultdict(list), collections.defaultdict(list)
    for number in range(rounds + 1):
        for alg in by_turns(["RS256", "ES256"], number):
            http = server.http()
            http.json("PATCH", f"/api/idps/{provider['id']}", {"signingAlg": alg})
            http.close()
            application = client(server, provider)
            count, seconds = server.signatures()
            spent = cpu(server, application.sign_in, times)
            made_then, took = server.signatures()
            application.close()
            # The first round warms up.
            if number > 0:
                found[alg].append(spent)
                signed[alg].append((took - seconds) * 1000 / (made_then - count))
    for alg, spent in found.items():
        print(f"CPU a sign-in, {alg}: {spread(spent, ' ms')}, and a signature took {spread(signed[alg], ' ms')}", flush=True)


def reads(server: Served, provider: dict, times: int) -> None:
    application = client(server, provider)
    token = application.sign_in()["access_token"]
    get = lambda path: application.http.exchange(application.http.bytes_of("GET", path))
    ways = {
        "jwks": lambda: get(application.paths["jwks"]),
        "discovery": lambda: get(f"/idp/{provider['slug']}/.well-known/openid-configuration"),
        "introspection": lambda: application.post(
            application.paths["introspect"], application.form | {"token": token}
        ),
    }
    for name, act in ways.items():
        took = []
        spent = cpu(server, lambda: took.append(timed(act)), times)
        print(f"{name}: {spent:.3f} ms CPU, p50 {statistics.median(took):.2f} ms", flush=True)
    application.close()


def at_once(server: Served, provider: dict, times: int) -> None:
    took = collections.defaultdict(list)

    def run() -> None:
        application = client(server, provider)
        for _ in range(times // CLIENTS):
            codes = []
            took["authorize"].append(timed(lambda: codes.append(application.authorize())))
            took["token"].append(timed(lambda: application.redeem(codes[0])))
        application.close()

    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, all_took in took.items():
        cuts = statistics.quantiles(all_took, n=100)
        print(f"{name} at {CLIENTS} clients: p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms", flush=True)


def tenants(server: Served, providers: int, grants: int) -> None:
    """What is kept of providers and of sign-ins that are still good."""
    before, took, http = server.usage().anonymous_mb, [], server.http()
    new = {"name": "One of many", "redirectUris": [CALLBACK]}
    for _ in range(providers):
        # A key is ready again after a second at most.
        time.sleep(1)
        answers = []
        took.append(timed(lambda: answers.append(http.json("POST", "/api/idps", new))))
        user = {"email": "ada@example.com", "name": "Ada"}
        http.json("POST", f"/api/idps/{answers[0]['id']}/users", user)
    http.close()
    application = client(server, made(server))
    for _ in range(grants):
        application.sign_in()
    application.close()
    more = server.usage().anonymous_mb - before
    print(
        f"a new provider, a key being ready: p50 {statistics.median(took):.1f} ms;"
        f" {providers} providers with a user each, and {grants} grants: {more:.1f} MB more memory",
        flush=True,
    )


def beside_rivals(rounds: int, times: int) -> None:
    found = collections.defaultdict(list)
    with Served() as ours, rivals.oauth2_mock_server() as mock, rivals.oidc_provider(CALLBACK) as full:
        mine = client(ours, made(ours))
        others = {server.name: Client(server.http_port, *server.client) for server in (mock, full)}
        ways = {"trapline": (ours, mine.sign_in)}
        ways["oauth2-mock-server"] = (mock, others[mock.name].sign_in)
        ways["oidc-provider"] = (full, others[full.name].sign_in)
        application = others[full.name]
        application.with_cookies(rivals.signed_in(full.http_port, application.authorization))
        for number in range(rounds + 1):
            for name in by_turns(list(ways), number):
                spent = cpu(ways[name][0], ways[name][1], times)
                if number > 0:
                    found[name].append(spent)
    for name, spent in found.items():
        print(f"CPU a sign-in with RS256, {name}: {spread(spent, ' ms')}", flush=True)


class SignIns(Load):
    """Over connections that stay."""

    def __init__(self, server: Served) -> None:
        super().__init__(CLIENTS, RATE)
        self.server, self.provider, self.done = server, made(server), collections.Counter()

    @contextlib.contextmanager
    def worker(self, number: int) -> Iterator[Callable[[int], None]]:
        application = client(self.server, self.provider)

        def act(asked: int) -> None:
            application.sign_in()
            self.done[number] = asked + 1

        yield act
        application.close()


def beside_mail(rounds: int, seconds: int) -> None:
    told, loads = mail_beside(Served, SignIns, MAIL_RATE, rounds, seconds)
    done = sum(load.done.total() for load in loads)
    print(f"mail at {MAIL_RATE} a second beside {done / (rounds * seconds):.0f} sign-ins a second: {told}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

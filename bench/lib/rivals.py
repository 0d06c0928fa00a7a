"""Mocks of others: identity providers in Node and in memory, which sign in without asking anybody, and Stripe's own mock
of its API, which keeps nothing."""

import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from . import build
from .rest import Failed, Http
from .servers import Server

SOURCES = Path(__file__).resolve().parent.parent / "idps"
CLIENT = ("trapline", "a-secret-of-the-client")
STRIPE_MOCK = "github.com/stripe/stripe-mock@v0.203.0"


class NodeProvider(Server):
    """A script of `bench/idps`, beside the packages that npm fetches once for a workspace."""

    script = ""
    paths: dict[str, str] = {}

    def __init__(self, *arguments: str) -> None:
        super().__init__()
        self.arguments = arguments
        self.client = (self.paths, *CLIENT)

    def command(self) -> list[str]:
        packages = build.WORK / "rivals"
        if not (packages / "node_modules").exists():
            packages.mkdir(parents=True, exist_ok=True)
            for name in ("package.json", "package-lock.json"):
                (packages / name).write_bytes((SOURCES / name).read_bytes())
            install = ["npm", "ci", "--prefix", str(packages), "--ignore-scripts", "--silent"]
            subprocess.run(install, check=True)
        # Modules are looked for beside the file that wants them.
        script = packages / self.script
        script.write_bytes((SOURCES / self.script).read_bytes())
        return ["node", str(script), str(self.http_port), *self.arguments]

    def is_ready(self) -> bool:
        http = Http(self.http_port)
        path = "/.well-known/openid-configuration"
        ready = http.exchange(http.bytes_of("GET", path)).status == 200
        http.close()
        return ready


class OAuth2MockServer(NodeProvider):
    name = "oauth2-mock-server"
    script = "oauth2-mock-server.mjs"
    paths = {"authorize": "/authorize", "token": "/token"}


class OidcProvider(NodeProvider):
    name = "oidc-provider"
    script = "oidc-provider.mjs"
    paths = {"authorize": "/auth", "token": "/token"}


class StripeMock(Server):
    name = "stripe-mock"

    def command(self) -> list[str]:
        return [str(build.TOOLS / "stripe-mock"), "-http-port", str(self.http_port)]

    def is_ready(self) -> bool:
        http = Http(self.http_port, "sk_test_123")
        ready = http.exchange(http.bytes_of("GET", "/v1/balance")).status == 200
        http.close()
        return ready


def stripe_mock() -> StripeMock:
    build.installed("stripe-mock", STRIPE_MOCK)
    return StripeMock()


def oauth2_mock_server() -> OAuth2MockServer:
    return OAuth2MockServer()


def oidc_provider(callback: str) -> OidcProvider:
    return OidcProvider(*CLIENT, callback)


def signed_in(port: int, authorization: bytes) -> str:
    """Goes through oidc-provider's pages once; the cookies with which it asks nobody again."""
    cookies: dict[str, str] = {}
    http, request = Http(port), authorization
    for _ in range(10):
        answer = http.exchange(request)
        for cookie in answer.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            cookies[name] = value
        location = urlsplit(answer.headers.get("location", ""))
        if "code=" in location.query:
            http.close()
            return "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
        header = "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
        path = f"{location.path}?{location.query}" if location.query else location.path
        request = http.bytes_of("GET", path, headers=f"Cookie: {header}\r\n")
    raise Failed(f"oidc-provider asks on: {answer.status} {answer.headers}")

"""Xero's tokens over the official SDK, which asks for them over https: at the server's own listener, under the authority
that the API hands out. The mock's own snippets come before this."""

import os

from harness import Mock, raises
from xero_python.api_client.oauth2 import TokenApi

mock = Mock()
own = mock.api("GET")
tls, credentials = own["addresses"]["tls"], own["credentials"]
# The SDK has the provider's own address in it, and no setting for it.
TokenApi.refresh_token_url = TokenApi.client_credentials_token_url = f"{tls}/connect/token"


def over_tls(authority):
    """A client whose token has ended, and the place where the SDK keeps the next one."""
    oauth = OAuth2Token(client_id=credentials["clientId"], client_secret=credentials["clientSecret"])
    configuration = Configuration(oauth2_token=oauth)
    configuration.ssl_ca_cert = authority
    made, kept = ApiClient(configuration), {**token, "access_token": "ended", "expires_at": 1}
    made.oauth2_token_getter(lambda: kept)
    made.oauth2_token_saver(lambda new: kept.update(new))
    return made, kept


# Who does not know the authority trusts nobody.
stranger, _ = over_tls(None)
raises(Exception, lambda: AccountingApi(stranger, base_url=f"{tls}/api.xro/2.0").get_organisations(tenant))

# The SDK sees that the token has ended, and has it renewed.
made, kept = over_tls(os.environ["CA"])
accounting = AccountingApi(made, base_url=f"{tls}/api.xro/2.0")
assert accounting.get_organisations(tenant).organisations[0].base_currency
assert kept["access_token"] == credentials["accessToken"] and kept["refresh_token"] != "none", kept
oauth = made.configuration.oauth2_token
oauth.get_client_credentials_access_token(made, app_store_billing=False)
assert oauth.access_token == credentials["accessToken"]

operations = [call["operation"] for call in mock.api("GET", "/calls")["calls"]]
assert operations.count("POST /connect/token") == 2, operations
print("ok")

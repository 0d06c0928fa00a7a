"""DocuSign's OAuth over the official SDK, which speaks https only: at the server's own listener, under the authority that
the API hands out. The mock's own snippets come before this."""

import os

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from docusign_esign.client.configuration import Configuration

from harness import Mock, raises

mock = Mock()
own = mock.api("GET")
tls, credentials = own["addresses"]["tls"], own["credentials"]
host = tls.removeprefix("https://")
key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def asked(oauth):
    return oauth.request_jwt_user_token(credentials["integrationKey"], credentials["userId"], host, pem, 3600)


# Who does not know the authority trusts nobody.
raises(Exception, lambda: asked(docusign.ApiClient(oauth_host_name=host)))
Configuration().ssl_ca_cert = os.environ["CA"]
oauth = docusign.ApiClient(oauth_host_name=host)
token = asked(oauth)
assert token.access_token == credentials["accessToken"], token
assert oauth.generate_access_token(credentials["integrationKey"], credentials["clientSecret"], "code").refresh_token

# What the SDK is told leads back over TLS, and the SDK follows it.
(found,) = oauth.get_user_info(token.access_token).accounts
assert (found.account_id, found.base_uri) == (account, tls), found
oauth.host = f"{found.base_uri}/restapi"
envelopes = docusign.EnvelopesApi(oauth)
signer = docusign.Signer(email="ada@example.com", name="Ada", recipient_id="1", routing_order="1", client_user_id="7")
made = envelopes.create_envelope(account, envelope_definition=docusign.EnvelopeDefinition(
    email_subject="Sign", status="sent", recipients=docusign.Recipients(signers=[signer]),
    documents=[docusign.Document(document_base64="JVBERg==", name="Contract", document_id="1")],
))
view = envelopes.create_recipient_view(account, made.envelope_id, recipient_view_request=docusign.RecipientViewRequest(
    return_url="http://app.example.com/done", email="ada@example.com", user_name="Ada", client_user_id="7",
    authentication_method="none",
))
assert view.url.startswith(f"{tls}/"), view

# Who comes to the plain port stays there.
envelope = docusign.EnvelopesApi(client).get_envelope(account, made.envelope_id)
assert envelope.status == "sent" and own["baseUrl"].startswith("http://"), envelope
print("ok")

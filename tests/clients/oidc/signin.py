"""Signs people in with Authlib and Flask. ISSUER, CLIENT_ID, CLIENT_SECRET and PORT are its settings."""

import os
import secrets

from authlib.integrations.flask_client import OAuth
from authlib.integrations.requests_client import OAuth2Session
from flask import Flask, abort, jsonify, request, session, url_for
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server

ISSUER = os.environ["ISSUER"]
CLIENT = {
    "client_id": os.environ["CLIENT_ID"],
    "client_secret": os.environ["CLIENT_SECRET"],
    "default_timeout": 10,
}

app = Flask(__name__)
app.secret_key = secrets.token_bytes(32)
# Tokens stay here: Flask's cookie is signed, but everybody can read it.
signed_in = {}
idp = OAuth(app).register(
    "idp",
    client_id=CLIENT["client_id"],
    client_secret=CLIENT["client_secret"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={
        "scope": "openid profile email offline_access",
        "code_challenge_method": "S256",
        "default_timeout": CLIENT["default_timeout"],
    },
)


@app.get("/login")
def login():
    # The library does not compare them (Discovery 1.0, section 4.3).
    if idp.load_server_metadata()["issuer"] != ISSUER:
        abort(403, "the metadata is of another issuer")
    hint = request.args.get("login_hint", "")
    return idp.authorize_redirect(url_for("callback", _external=True), login_hint=hint)


@app.get("/callback")
def callback():
    # Without these options the library does not look at the audience.
    required = {"essential": True}
    options = {"iss": {"value": ISSUER} | required, "aud": {"value": CLIENT["client_id"]} | required}
    token = idp.authorize_access_token(claims_options=options)
    # What the library leaves to the application: RFC 9207, and the subject of user info (Core 5.3.2).
    if request.args.get("iss") != ISSUER:
        abort(403, "the answer is of another issuer")
    if "userinfo" not in token:
        abort(403, "there is no ID token")
    user = idp.userinfo(token=token)
    if user["sub"] != token["userinfo"]["sub"]:
        abort(403, "user info is about somebody else")
    if not user.get("email"):
        abort(403, "there is no mail address")
    session["id"] = secrets.token_urlsafe()
    signed_in[session["id"]] = token
    return jsonify(user)


@app.get("/refresh")
def refresh():
    token = signed_in[session["id"]]
    endpoint = idp.load_server_metadata()["token_endpoint"]
    client = OAuth2Session(**CLIENT)
    token |= client.refresh_token(endpoint, refresh_token=token["refresh_token"])
    return jsonify(token["userinfo"])


@app.get("/logout")
def logout():
    token = signed_in.pop(session["id"])
    home = url_for("home", _external=True)
    return idp.logout_redirect(post_logout_redirect_uri=home, id_token_hint=token["id_token"])


@app.get("/")
def home():
    idp.validate_logout_response()
    return "signed out"


@app.errorhandler(Exception)
def refused(error):
    """What the application finds wrong is 403; the library has errors of its own."""
    return error if isinstance(error, HTTPException) else (str(error), 401)


server = make_server("127.0.0.1", int(os.environ.get("PORT", "3000")), app, threaded=True)
app.config["SERVER_NAME"] = f"localhost:{server.server_port}"
print(f"listening {server.server_port}", flush=True)
server.serve_forever()

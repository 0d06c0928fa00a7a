"""Three calls through openapi-python-client, and answers read by datamodel-codegen's models."""

import os

import httpx
import models
from trapline import AuthenticatedClient
from trapline.api.inboxes import create_inbox, store_test_message
from trapline.api.messages import wait_for_message
from trapline.models import InboxInput

url, key = os.environ["TRAPLINE_URL"], os.environ["TRAPLINE_API_KEY"]
client = AuthenticatedClient(base_url=url, token=key)
inbox = create_inbox.sync(client=client, body=InboxInput(name="Python", expires_in_minutes=5))
stored = store_test_message.sync(inbox.id, client=client)
found = wait_for_message.sync(inbox.id, client=client, has_code=True, timeout=5)
assert found.message.id == stored.id and found.message.codes, found

headers = {"Authorization": f"Bearer {key}"}
answer = httpx.get(f"{url}/api/inboxes/{inbox.id}", headers=headers)
read = models.Inbox.model_validate_json(answer.text)
assert f"{read.id}" == inbox.id, read
message = models.Message.model_validate_json(
    httpx.get(f"{url}/api/messages/{stored.id}", headers=headers).text
)
assert f"{message.id}" == stored.id and message.codes, message

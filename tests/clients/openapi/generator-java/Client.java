import org.openapitools.client.ApiClient;
import org.openapitools.client.Configuration;
import org.openapitools.client.api.InboxesApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.model.Inbox;
import org.openapitools.client.model.InboxInput;
import org.openapitools.client.model.Message;

/** Three calls through openapi-generator's Java client. */
public final class Client {
  public static void main(String[] arguments) throws Exception {
    String key = "Bearer " + System.getenv("TRAPLINE_API_KEY");
    ApiClient client = Configuration.getDefaultApiClient();
    client.updateBaseUri(System.getenv("TRAPLINE_URL"));
    client.setRequestInterceptor(request -> request.setHeader("Authorization", key));
    InboxesApi inboxes = new InboxesApi(client);
    Inbox inbox = inboxes.createInbox(new InboxInput().name("Java").expiresInMinutes(5));
    Message stored = inboxes.storeTestMessage(inbox.getId());
    MessagesApi messages = new MessagesApi(client);
    Message found =
        messages.waitForMessage(inbox.getId(), null, null, null, null, true, 5, null).getMessage();
    if (!found.getId().equals(stored.getId()) || found.getCodes().isEmpty()) {
      throw new AssertionError(found);
    }
  }
}

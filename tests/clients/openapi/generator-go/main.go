// Three calls through openapi-generator's Go client.
package main

import (
	"context"
	"log"
	"os"

	"client/trapline"
)

func main() {
	client := trapline.NewAPIClient(trapline.NewConfiguration())
	ctx := context.WithValue(context.Background(), trapline.ContextAccessToken, os.Getenv("TRAPLINE_API_KEY"))
	input := trapline.NewInboxInput("openapi-generator")
	input.SetExpiresInMinutes(5)
	inbox, _, err := client.InboxesAPI.CreateInbox(ctx).InboxInput(*input).Execute()
	if err != nil {
		log.Fatal(err)
	}
	stored, _, err := client.InboxesAPI.StoreTestMessage(ctx, inbox.Id).Execute()
	if err != nil {
		log.Fatal(err)
	}
	found, _, err := client.MessagesAPI.WaitForMessage(ctx, inbox.Id).HasCode(true).Timeout(5).Execute()
	if err != nil {
		log.Fatal(err)
	}
	if message := found.GetMessage(); message.Id != stored.Id || len(message.Codes) == 0 {
		log.Fatal(message)
	}
}

// Three calls through oapi-codegen's client.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"client/api"
)

func main() {
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TRAPLINE_API_KEY"))
		return nil
	}
	client, err := api.NewClientWithResponses(os.Getenv("TRAPLINE_URL"), api.WithRequestEditorFn(key))
	if err != nil {
		log.Fatal(err)
	}
	ctx, minutes, seconds, yes := context.Background(), int32(5), int32(5), true
	inbox, err := client.CreateInboxWithResponse(ctx, api.InboxInput{Name: "oapi-codegen", ExpiresInMinutes: &minutes})
	if err != nil || inbox.JSON201 == nil {
		log.Fatal(err, string(inbox.Body))
	}
	stored, err := client.StoreTestMessageWithResponse(ctx, inbox.JSON201.Id)
	if err != nil || stored.JSON201 == nil {
		log.Fatal(err, string(stored.Body))
	}
	query := api.WaitForMessageParams{HasCode: &yes, Timeout: &seconds}
	found, err := client.WaitForMessageWithResponse(ctx, inbox.JSON201.Id, &query)
	if err != nil || found.JSON200 == nil {
		log.Fatal(err, string(found.Body))
	}
	if message := found.JSON200.Message; message == nil || message.Id != stored.JSON201.Id || len(message.Codes) == 0 {
		log.Fatal(message)
	}
}

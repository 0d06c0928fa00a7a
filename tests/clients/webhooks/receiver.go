// Takes Trapline's webhooks: go run receiver.go, with WEBHOOK_SECRET and PORT set.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

const tolerance = 300 * time.Second

// isGenuine tells whether the body, as it came, was signed with the secret, and lately.
func isGenuine(secret, timestamp, signature string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret)) // all of it, with whsec_
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	wanted := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(wanted), []byte(signature))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	timestamp, signature := r.Header.Get("X-Webhook-Timestamp"), r.Header.Get("X-Webhook-Signature")
	if err != nil || !isGenuine(os.Getenv("WEBHOOK_SECRET"), timestamp, signature, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct {
		Event   string
		Message struct{ ID string }
	}
	if err := json.Unmarshal(body, &event); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	// Deliveries may come twice: the message's id tells whether this one did.
	fmt.Println(event.Event, event.Message.ID)
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}

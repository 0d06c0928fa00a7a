// Command netsmtp drives Go's net/smtp: PlainAuth over STARTTLS, CRAMMD5Auth, and SendMail.
package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/smtp"
	"net/textproto"
	"os"
)

const sender = "sender@app.test"

var (
	host       = os.Getenv("SMTP_HOST")
	address    = net.JoinHostPort(host, os.Getenv("SMTP_PORT"))
	tlsAddress = net.JoinHostPort(host, os.Getenv("SMTPS_PORT"))
	recipients = []string{"receiver@app.test", "second@app.test"}
	plain      = smtp.PlainAuth("", os.Getenv("SMTP_USER"), os.Getenv("SMTP_PASSWORD"), host)
	cram       = smtp.CRAMMD5Auth(os.Getenv("SMTP_USER"), os.Getenv("SMTP_PASSWORD"))
)

type sent struct {
	Subject string   `json:"subject"`
	From    string   `json:"from"`
	To      []string `json:"to"`
	Text    string   `json:"text"`
	Raw     string   `json:"raw"`
}

func message(subject string) (string, []byte) {
	text := "Hello from Go.\r\n.\r\n..two dots\r\n"
	return text, []byte("From: " + sender + "\r\nTo: receiver@app.test\r\nSubject: " + subject + "\r\n\r\n" + text)
}

func report(subject string) {
	text, raw := message(subject)
	sum := sha256.Sum256(raw)
	line, err := json.Marshal(sent{subject, sender, recipients, text, hex.EncodeToString(sum[:])})
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// deliver sends one message over a connection that is signed in.
func deliver(client *smtp.Client, subject string) {
	_, raw := message(subject)
	check(client.Mail(sender))
	for _, recipient := range recipients {
		check(client.Rcpt(recipient))
	}
	body, err := client.Data()
	check(err)
	_, err = body.Write(raw)
	check(err)
	check(body.Close())
	report(subject)
}

func trust() *tls.Config {
	pem, err := os.ReadFile(os.Getenv("SMTP_CA"))
	check(err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		log.Fatal("the CA does not read")
	}
	return &tls.Config{ServerName: host, RootCAs: roots}
}

func startTLS() {
	client, err := smtp.Dial(address)
	check(err)
	check(client.StartTLS(trust()))
	check(client.Auth(plain))
	deliver(client, "Go PlainAuth over STARTTLS")
	deliver(client, "Go second message over STARTTLS")
	check(client.Quit())
}

func implicitTLS() {
	conn, err := tls.Dial("tcp", tlsAddress, trust())
	check(err)
	client, err := smtp.NewClient(conn, host)
	check(err)
	check(client.Auth(plain))
	deliver(client, "Go implicit TLS")
	check(client.Quit())
}

func cramMD5() {
	client, err := smtp.Dial(address)
	check(err)
	check(client.Auth(cram))
	deliver(client, "Go CRAMMD5Auth")
	check(client.Reset())
	check(client.Quit())
}

// sendMail finds STARTTLS by itself and trusts the system's roots, which SSL_CERT_FILE replaces.
func sendMail() {
	check(os.Setenv("SSL_CERT_FILE", os.Getenv("SMTP_CA")))
	subject := "Go SendMail"
	_, raw := message(subject)
	check(smtp.SendMail(address, plain, sender, recipients, raw))
	report(subject)
}

func wrongPassword() {
	client, err := smtp.Dial(address)
	check(err)
	defer client.Close()
	err = client.Auth(smtp.CRAMMD5Auth(os.Getenv("SMTP_USER"), "wrong"))
	var reply *textproto.Error
	if !errors.As(err, &reply) || reply.Code != 535 {
		log.Fatalf("a wrong password was answered %v", err)
	}
}

func main() {
	startTLS()
	implicitTLS()
	cramMD5()
	sendMail()
	wrongPassword()
}

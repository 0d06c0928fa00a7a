// Signs people in with go-oidc and x/oauth2. ISSUER, CLIENT_ID, CLIENT_SECRET and PORT are its settings.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// What the application finds wrong; the libraries have errors of their own.
type refused struct{ error }

func refuse(why string) error { return refused{errors.New(why)} }

type session struct {
	state, nonce, verifier, idToken string
	tokens                          *oauth2.Token
}

type page func(context.Context, *session, url.Values) (any, error)

type app struct {
	home     string
	provider *oidc.Provider
	client   oauth2.Config
}

// The provider's metadata, from the first sign-in on.
func (a *app) discover() error {
	if a.provider != nil {
		return nil
	}
	// The keys are fetched by this context too, so it outlives the request.
	ctx := oidc.ClientContext(context.Background(), &http.Client{Timeout: 10 * time.Second})
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		return err
	}
	a.provider = provider
	a.client = oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  a.home + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
	}
	return nil
}

func (a *app) login(_ context.Context, s *session, query url.Values) (any, error) {
	if err := a.discover(); err != nil {
		return nil, err
	}
	s.state, s.nonce, s.verifier = rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	return url.Parse(a.client.AuthCodeURL(s.state, oidc.Nonce(s.nonce),
		oauth2.S256ChallengeOption(s.verifier),
		oauth2.SetAuthURLParam("login_hint", query.Get("login_hint"))))
}

// These libraries leave state, iss (RFC 9207), nonce, azp and the subject of user info to the application.
func (a *app) callback(ctx context.Context, s *session, query url.Values) (any, error) {
	if s.state == "" || query.Get("state") != s.state {
		return nil, refuse("state is another one")
	}
	if query.Get("iss") != os.Getenv("ISSUER") {
		return nil, refuse("the answer is of another issuer")
	}
	if code := query.Get("error"); code != "" {
		return nil, refuse(code)
	}
	tokens, err := a.client.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(s.verifier))
	if err != nil {
		return nil, err
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return nil, refuse("there is no ID token")
	}
	idToken, err := a.provider.Verifier(&oidc.Config{ClientID: a.client.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if idToken.Nonce != s.nonce {
		return nil, refuse("nonce is another one")
	}
	var claims struct{ Azp string }
	if err := idToken.Claims(&claims); err != nil {
		return nil, err
	}
	if claims.Azp != "" && claims.Azp != a.client.ClientID {
		return nil, refuse("the ID token was given to another client")
	}
	info, err := a.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, err
	}
	if info.Subject != idToken.Subject {
		return nil, refuse("user info is about somebody else")
	}
	if info.Email == "" {
		return nil, refuse("there is no mail address")
	}
	s.state, s.idToken, s.tokens = "", raw, tokens
	return info, nil
}

func (a *app) refresh(ctx context.Context, s *session, _ url.Values) (any, error) {
	if s.tokens == nil {
		return nil, refuse("nobody is signed in")
	}
	old := &oauth2.Token{RefreshToken: s.tokens.RefreshToken}
	tokens, err := a.client.TokenSource(ctx, old).Token()
	if err != nil {
		return nil, err
	}
	s.tokens = tokens
	return "refreshed", nil
}

func (a *app) logout(_ context.Context, s *session, _ url.Values) (any, error) {
	if s.tokens == nil {
		return nil, refuse("nobody is signed in")
	}
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := a.provider.Claims(&metadata); err != nil {
		return nil, err
	}
	query := url.Values{"id_token_hint": {s.idToken}, "post_logout_redirect_uri": {a.home + "/"}}
	return url.Parse(metadata.EndSession + "?" + query.Encode())
}

func (a *app) signedOut(_ context.Context, s *session, _ url.Values) (any, error) {
	*s = session{}
	return "signed out", nil
}

func main() {
	var lock sync.Mutex
	sessions := map[string]*session{}
	port := os.Getenv("PORT")
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	a := &app{home: fmt.Sprintf("http://localhost:%d", address.Port)}
	pages := map[string]page{"/login": a.login, "/callback": a.callback, "/refresh": a.refresh,
		"/logout": a.logout, "/": a.signedOut}
	serve := func(w http.ResponseWriter, r *http.Request) {
		lock.Lock() // One at a time: this application is small.
		defer lock.Unlock()
		cookie, err := r.Cookie("sid")
		if err != nil || sessions[cookie.Value] == nil {
			cookie = &http.Cookie{Name: "sid", Value: rand.Text(), Path: "/", HttpOnly: true,
				SameSite: http.SameSiteLaxMode}
			sessions[cookie.Value] = &session{}
			http.SetCookie(w, cookie)
		}
		handle, found := pages[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		client := &http.Client{Timeout: 10 * time.Second}
		ctx := oidc.ClientContext(r.Context(), client)
		answer, err := handle(ctx, sessions[cookie.Value], r.URL.Query())
		if err != nil {
			status := http.StatusUnauthorized
			if errors.As(err, &refused{}) {
				status = http.StatusForbidden
			}
			http.Error(w, err.Error(), status)
		} else if to, is := answer.(*url.URL); is {
			http.Redirect(w, r, to.String(), http.StatusFound)
		} else {
			json.NewEncoder(w).Encode(answer)
		}
	}
	fmt.Printf("listening %d\n", address.Port)
	panic(http.Serve(listener, http.HandlerFunc(serve)))
}

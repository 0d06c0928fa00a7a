// Two libraries of Go as service providers of the provider under test: `crewjam` and `gosaml2`. Prints what
// became of each sign-in, one JSON object a line.
package main

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
	gosaml2 "github.com/russellhaering/gosaml2"
	dsig "github.com/russellhaering/goxmldsig"
)

const (
	app = "https://sp.example"
	acs = app + "/acs"
)

var (
	field  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	signs  = []string{"both", "assertion", "response"}
	forms  = []string{"emailAddress", "persistent", "transient", "unspecified"}
	faults = []string{
		"expired", "not_yet_valid", "clock_skew=86400", "clock_skew=-86400", "wrong_issuer", "wrong_audience",
		"bad_signature", "wrong_key", "status_responder", "status_authn_failed", "no_passive", "wrong_recipient",
		"wrong_destination", "wrong_in_response_to", "tampered", "unsigned", "comment_in_nameid", "replay",
		"signature_wrapping=1", "signature_wrapping=2", "signature_wrapping=3", "signature_wrapping=4",
		"signature_wrapping=5", "signature_wrapping=6", "signature_wrapping=7", "signature_wrapping=8",
	}
)

// how a sign-in is done.
type how struct {
	fault, form  string
	isBegunThere bool
}

// accept returns the name and the value of the attribute `odd`.
type accept func(how) (string, string, error)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ask asks the API, and returns the provider.
func ask(method, path, body string) map[string]any {
	request := must(http.NewRequest(method, os.Getenv("IDP")+path, strings.NewReader(body)))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := must(http.DefaultClient.Do(request))
	defer answer.Body.Close()
	var shown map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&shown); err != nil {
		panic(err)
	}
	return shown
}

func get(address string) []byte {
	answer := must(http.Get(address))
	defer answer.Body.Close()
	return must(io.ReadAll(answer.Body))
}

// signIn follows a sign-in to the form that is posted to the service provider.
func signIn(address, fault string) url.Values {
	to := must(url.Parse(address))
	if fault != "" {
		query := to.Query()
		query.Set("mock_fault", fault)
		to.RawQuery = query.Encode()
	}
	fields := url.Values{}
	for _, found := range field.FindAllStringSubmatch(string(get(to.String())), -1) {
		fields.Set(found[1], html.UnescapeString(found[2]))
	}
	return fields
}

func endpoint(name string) string {
	return ask("GET", "", "")["endpoints"].(map[string]any)[name].(string)
}

func urn(form string) string {
	version := "1.1"
	if form == "persistent" || form == "transient" {
		version = "2.0"
	}
	return "urn:oasis:names:tc:SAML:" + version + ":nameid-format:" + form
}

func metadata() *saml.EntityDescriptor {
	return must(samlsp.ParseMetadata(get(ask("GET", "", "")["samlMetadataUrl"].(string))))
}

func crewjam(how how) (string, string, error) {
	known := metadata()
	sp := saml.ServiceProvider{
		EntityID: app, AcsURL: *must(url.Parse(acs)), MetadataURL: *must(url.Parse(app)),
		IDPMetadata: known, AllowIDPInitiated: how.isBegunThere,
		AuthnNameIDFormat: saml.NameIDFormat(urn(how.form)),
	}
	address, ids := endpoint("samlSso"), []string{}
	if !how.isBegunThere {
		request := must(sp.MakeAuthenticationRequest(address, saml.HTTPRedirectBinding, saml.HTTPPostBinding))
		address, ids = must(request.Redirect("a state", &sp)).String(), append(ids, request.ID)
	}
	fields := signIn(address, how.fault)
	answer := must(http.NewRequest("POST", acs, strings.NewReader(fields.Encode())))
	answer.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := answer.ParseForm(); err != nil {
		return "", "", err
	}
	assertion, err := sp.ParseResponse(answer, ids)
	if err != nil {
		var refusal *saml.InvalidResponseError
		if errors.As(err, &refusal) {
			err = refusal.PrivateErr
		}
		return "", "", err
	}
	odd := ""
	for _, statement := range assertion.AttributeStatements {
		for _, attribute := range statement.Attributes {
			if attribute.Name == "odd" {
				odd = attribute.Values[0].Value
			}
		}
	}
	return assertion.Subject.NameID.Value, odd, nil
}

func gosaml(how how) (string, string, error) {
	store := dsig.MemoryX509CertificateStore{}
	known := metadata()
	for _, key := range known.IDPSSODescriptors[0].KeyDescriptors {
		der := must(base64.StdEncoding.DecodeString(key.KeyInfo.X509Data.X509Certificates[0].Data))
		store.Roots = append(store.Roots, must(x509.ParseCertificate(der)))
	}
	sp := gosaml2.SAMLServiceProvider{
		IdentityProviderSSOURL: endpoint("samlSso"), IdentityProviderIssuer: known.EntityID,
		AssertionConsumerServiceURL: acs, ServiceProviderIssuer: app, AudienceURI: app,
		IDPCertificateStore: &store, NameIdFormat: urn(how.form),
	}
	address := endpoint("samlSso")
	if !how.isBegunThere {
		address = must(sp.BuildAuthURL("a state"))
	}
	info, err := sp.RetrieveAssertionInfo(signIn(address, how.fault).Get("SAMLResponse"))
	if err != nil {
		return "", "", err
	}
	// Whoever uses the library has to look.
	if info.WarningInfo.InvalidTime || info.WarningInfo.NotInAudience {
		return "", "", fmt.Errorf("%+v", *info.WarningInfo)
	}
	return info.NameID, info.Values.Get("odd"), nil
}

func tell(name, outcome string, detail any) {
	line := map[string]string{"case": name, "outcome": outcome, "detail": fmt.Sprint(detail)}
	fmt.Println(string(must(json.Marshal(line))))
}

func attempt(accept accept, name string, how how) {
	if how.form == "" {
		how.form = "emailAddress"
	}
	subject, odd, err := accept(how)
	switch {
	case err != nil:
		tell(name, "refused", err)
	case how.fault == "" && odd != os.Getenv("ODD"):
		tell(name, "misread", odd)
	default:
		tell(name, "accepted "+subject, "")
	}
}

func main() {
	accept := map[string]accept{"crewjam": crewjam, "gosaml2": gosaml}[os.Args[1]]
	for _, sign := range signs {
		ask("PATCH", "", fmt.Sprintf(`{"samlSign": %q}`, sign))
		attempt(accept, "sign "+sign, how{})
	}
	ask("PATCH", "", `{"samlSign": "both"}`)
	attempt(accept, "begun at the provider", how{isBegunThere: true})
	for _, form := range forms {
		ask("PATCH", "", fmt.Sprintf(`{"samlNameIdFormat": %q}`, form))
		attempt(accept, "name "+form, how{form: form})
	}
	ask("PATCH", "", `{"samlNameIdFormat": "emailAddress"}`)
	for _, fault := range faults {
		attempt(accept, fault, how{fault: fault})
	}
	ask("POST", "/rotate", `{"what": "keys"}`)
	attempt(accept, "two certificates", how{})
}

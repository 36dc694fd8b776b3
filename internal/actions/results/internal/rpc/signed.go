package rpc

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/secret"
)

// A SignedURL is an address that works without a token for anybody who knows it. The zero value is
// no address.
type SignedURL struct {
	url     string
	secrets []string // the signatures in the address, in every encoding
}

// ParseSigned checks a signed address that the service issued, and masks its signature. The error
// does not contain the address.
func (c *Client) ParseSigned(raw string) (SignedURL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return SignedURL{}, fmt.Errorf("the signed address: %w", errAddress)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.plainHTTP) {
		return SignedURL{}, fmt.Errorf("the signed address: %w: it is not https", errAddress)
	}
	s := SignedURL{url: raw, secrets: signatures(u.RawQuery)}
	for _, signature := range s.secrets {
		c.o.Mask(signature)
	}
	return s, nil
}

// SignedField returns the signed address in a field of an answer.
func (c *Client) SignedField(f Fields, name string) (SignedURL, error) {
	raw, err := f.Text(name)
	if err != nil {
		return SignedURL{}, err
	}
	s, err := c.ParseSigned(raw)
	if err != nil {
		return SignedURL{}, f.error(err)
	}
	return s, nil
}

// WithQuery returns the address with query added to its query.
func (s SignedURL) WithQuery(query string) SignedURL {
	separator := "?"
	if strings.Contains(s.url, "?") {
		separator = "&"
	}
	s.url += separator + query
	return s
}

// signatures returns the signatures in a query: as they are written there, decoded, and encoded in
// the usual ways.
func signatures(query string) []string {
	var out []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || !signature(plain) {
			continue
		}
		forms := []string{value}
		if plain, err := url.QueryUnescape(value); err == nil {
			encoded := url.QueryEscape(plain)
			forms = append(forms, plain, encoded, strings.ReplaceAll(encoded, "+", "%20"))
		}
		for _, form := range forms {
			if len(form) >= secret.MinLength && !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	return out
}

// signature reports whether a parameter with this name is a signature: "sig" at Azure, or a name
// that ends with "signature".
func signature(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || strings.HasSuffix(name, "signature")
}

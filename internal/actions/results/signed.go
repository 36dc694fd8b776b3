package results

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A signed is an address that whoever knows it may use.
type signed struct {
	url     string
	secrets []string // its signatures, in every spelling
}

// signed checks an address that a service gave, and masks its signature. The error
// does not repeat it.
func (c *client) signed(raw string) (signed, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return signed{}, fmt.Errorf("the signed address: %w", errAddress)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !c.plain) {
		return signed{}, fmt.Errorf("the signed address: %w: it is not https", errAddress)
	}
	s := signed{url: raw, secrets: signatures(u.RawQuery)}
	for _, secret := range s.secrets {
		c.mask(secret)
	}
	return s, nil
}

// address returns the signed address in a field of an answer.
func (c *client) address(what string, a answer, field string) (signed, error) {
	raw, err := a.text(field)
	if err != nil {
		return signed{}, fmt.Errorf("%s: %w", what, err)
	}
	s, err := c.signed(raw)
	if err != nil {
		return signed{}, fmt.Errorf("%s: %w", what, err)
	}
	return s, nil
}

// signatures returns the signatures in a query: as they stand there, decoded, and
// encoded in the ways that are in use; the longest first.
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
			if len(form) >= minSecret && !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// signature reports whether a parameter of this name is one, at Azure or elsewhere.
func signature(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || strings.HasSuffix(name, "signature")
}

// with returns the address with more in its query.
func (s signed) with(query string) string {
	if strings.Contains(s.url, "?") {
		return s.url + "&" + query
	}
	return s.url + "?" + query
}

package agent

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// textLimit bounds foreign text in an error, in characters.
const textLimit = 200

// mask stands where a secret stood.
const mask = "***"

// What a credential looks like in the text of an error that we did not write.
var (
	urlSecrets  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/"'?#]*@)?([^\s"'?#]*)(?:[?#][^\s"']*)?`)
	userinfo    = regexp.MustCompile(`[^\s"'/@:]+:[^\s"'/@]*@`)
	credentials = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]+`)
	jsonWebKeys = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*`)
)

// secrets are the texts that must not appear in any error of one call.
type secrets []string

// secretsOf returns what an Authorization header and a userinfo give away, in each
// form in which a peer might repeat it.
func secretsOf(header string, user *url.Userinfo) secrets {
	var s secrets
	s.add(header)
	if scheme, value, ok := strings.Cut(header, " "); ok {
		s.add(strings.TrimSpace(value))
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil && strings.EqualFold(scheme, "basic") {
			s.add(string(plain))
			_, password, _ := strings.Cut(string(plain), ":")
			s.add(password)
		}
	}
	if user != nil {
		s.add(user.String())
		password, ok := user.Password()
		s.add(password)
		s.add(url.QueryEscape(password))
		// A name without a password is the usual way to write a token.
		if !ok {
			s.add(user.Username())
		}
	}
	return s
}

func (s *secrets) add(text string) {
	if strings.TrimSpace(text) != "" {
		*s = append(*s, text)
	}
}

// longest returns the length of the longest secret in bytes.
func (s secrets) longest() int {
	n := 0
	for _, t := range s {
		n = max(n, len(t))
	}
	return n
}

// redact masks the secrets in text.
func (s secrets) redact(text string) string {
	// Whole header first, then its parts: the order of secretsOf.
	for _, t := range s {
		text = strings.ReplaceAll(text, t, mask)
	}
	return text
}

// clean makes the text of a foreign error safe to show: known secrets and whatever
// looks like one are masked, query strings go, control characters are replaced.
func (s secrets) clean(text string) string {
	text = s.redact(text)
	text = urlSecrets.ReplaceAllString(text, "$1$2")
	text = userinfo.ReplaceAllString(text, "")
	text = credentials.ReplaceAllString(text, "$1 "+mask)
	text = jsonWebKeys.ReplaceAllString(text, mask)
	return bound(printable(text))
}

// printable replaces what is not printable, line breaks included, by spaces.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// bound cuts text to textLimit characters.
func bound(text string) string {
	n := 0
	for i := range text {
		if n == textLimit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

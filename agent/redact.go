package agent

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

const (
	textLimit = 200     // characters of foreign text in an error
	scanLimit = 4 << 10 // bytes of foreign text that are examined

	minQuerySecret = 8 // shortest value in a query that counts as a secret
)

// mask replaces a secret.
const mask = "***"

// A shape is a pattern of credentials in foreign text.
type shape struct {
	pattern *regexp.Regexp
	with    string // the replacement
}

// shapes are compiled at their first use, because most runs have no error and the program must
// start within milliseconds.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		// An address: its userinfo, query and fragment are removed.
		{regexp.MustCompile(`((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)(?:[^\s/"'?#]*@)?([^\s"'?#]*)(?:[?#][^\s"']*)?`), "$1$2"},
		{regexp.MustCompile(`[^\s"'/@:]+:[^\s"'/@]*@`), ""},
		{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`), "$1 " + mask},
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*`), mask}, // a JSON web token
	}
})

// secrets are the texts that must not appear in any error of one call.
type secrets []string

// secretsOf returns the secrets in the parts of a request, in every form in which a peer might
// repeat them.
func secretsOf(header string, user *url.Userinfo, query string) secrets {
	var s secrets
	s.add(header)
	if _, value, ok := strings.Cut(header, " "); ok {
		s.add(strings.TrimSpace(value))
	}
	if user != nil {
		password, ok := user.Password()
		s.add(user.String())
		s.add(user.Username() + ":" + password)
		s.add(password)
		s.add(url.QueryEscape(password))
		s.add(basic(user))
		// A user name without a password is usually a token.
		if !ok {
			s.add(user.Username())
		}
	}
	s.add(query)
	values, _ := url.ParseQuery(query)
	for _, list := range values {
		for _, v := range list {
			// Shorter values, such as a version, may occur in any text.
			if len(v) >= minQuerySecret {
				s.add(v)
				s.add(url.QueryEscape(v))
			}
		}
	}
	return s
}

// basic returns the credentials of Basic auth (RFC 7617).
func basic(user *url.Userinfo) string {
	password, _ := user.Password()
	return base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
}

func (s *secrets) add(text string) {
	if strings.Trim(text, " \t:") != "" {
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

// clean sanitizes foreign text: it masks known secrets and everything that looks like one,
// removes userinfo and query strings, turns white space and control characters into single
// spaces, and limits the length.
func (s secrets) clean(text string) string {
	cut := len(text) > scanLimit
	text = text[:min(len(text), scanLimit)]
	// The longest first, because a secret may contain another one.
	for _, t := range slices.SortedFunc(slices.Values(s), func(a, b string) int { return len(b) - len(a) }) {
		text = strings.ReplaceAll(text, t, mask)
	}
	if cut {
		// The limit may have truncated a secret, which was not recognised then.
		text = text[:max(0, len(text)-s.longest())]
	}
	for _, f := range shapes() {
		text = f.pattern.ReplaceAllString(text, f.with)
	}
	return bound(strings.Join(strings.Fields(printable(text)), " "))
}

// printable replaces unprintable characters and line breaks by spaces.
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

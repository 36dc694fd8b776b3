package managed

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

const (
	// maxShown is how much of the end of a container's output is shown, in bytes.
	maxShown = 500
	// maxRead is how much of it is searched for secrets, which is more because half a secret
	// is not found.
	maxRead = 64 << 10
	// minSecret is the length of the shortest secret that is redacted: shorter texts occur
	// everywhere.
	minSecret = 4
)

// redactedEnd returns the end of the agent's output without the agent's secrets.
func (a Agent) redactedEnd(output string) string {
	secrets := a.secrets()
	cut := len(output) >= maxRead
	for _, text := range secrets {
		output = strings.ReplaceAll(output, text, "[secret]")
	}
	if cut && len(secrets) > 0 {
		// The beginning may be the rest of a secret.
		output = output[min(len(output), len(secrets[0])):]
	}
	output = strings.TrimSpace(output)
	return strings.ToValidUTF8(output[max(0, len(output)-maxShown):], "")
}

// secrets returns the agent's secrets in all forms in which it may print them, the longest
// first because one may contain another.
func (a Agent) secrets() []string {
	list := []string{string(a.HarnessURL)}
	if u, err := url.Parse(string(a.HarnessURL)); err == nil && u.User != nil {
		password, _ := u.User.Password()
		list = append(list, password, base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for _, value := range a.Env {
		text := strings.TrimSpace(string(value))
		list = append(list, text, url.QueryEscape(text))
		// Each line of a key file is a secret.
		for line := range strings.Lines(text) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	list = slices.DeleteFunc(list, func(text string) bool { return len(text) < minSecret })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(list)
}

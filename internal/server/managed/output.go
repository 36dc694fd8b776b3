package managed

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

const (
	// outputShown is how much of the end of a container's output is told, in bytes.
	outputShown = 500
	// outputRead is how much of it is looked at for secrets, which is more: a secret that
	// is cut in two is not found.
	outputRead = 64 << 10
	// shortest is the length from which a text counts as a secret: to hide a shorter one
	// would make the output unreadable.
	shortest = 4
)

// shown returns the end of an agent's output without what the agent was given to keep for
// itself.
func (a Agent) shown(output string) string {
	secrets := a.secrets()
	cut := len(output) >= outputRead
	for _, text := range secrets {
		output = strings.ReplaceAll(output, text, "[secret]")
	}
	if cut && len(secrets) > 0 {
		// At the beginning there may be the rest of a secret.
		output = output[min(len(output), len(secrets[0])):]
	}
	output = strings.TrimSpace(output)
	return strings.ToValidUTF8(output[max(0, len(output)-outputShown):], "")
}

// secrets returns what an agent's output must not show, in the forms in which it may be
// printed, the longest first: one may hold another.
func (a Agent) secrets() []string {
	list := []string{string(a.HarnessURL)}
	if u, err := url.Parse(string(a.HarnessURL)); err == nil && u.User != nil {
		password, _ := u.User.Password()
		list = append(list, password, base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for _, value := range a.Env {
		text := strings.TrimSpace(string(value))
		list = append(list, text, url.QueryEscape(text))
		// Of a key of several lines each is one.
		for line := range strings.Lines(text) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	list = slices.DeleteFunc(list, func(text string) bool { return len(text) < shortest })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(list)
}

package managed

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/org/foreman-action/internal/secret"
)

const (
	// maxShown is how much of the end of a container's output is shown, in bytes.
	maxShown = 500
	// maxRead is how many bytes at the end are searched for secrets. It is larger than maxShown,
	// because a truncated secret is not found.
	maxRead = 64 << 10
)

// redactedEnd returns the end of the agent's output without the agent's secrets.
func (a Agent) redactedEnd(output string) string {
	secrets := a.secrets()
	cut := len(output) >= maxRead
	output = secret.Redact(output, secrets...)
	if cut {
		// The output may begin with the rest of a secret, so drop that many bytes.
		longest := 0
		for _, text := range secrets {
			longest = max(longest, len(text))
		}
		output = output[min(len(output), longest):]
	}
	output = strings.TrimSpace(output)
	return strings.ToValidUTF8(output[max(0, len(output)-maxShown):], "")
}

// secrets returns the agent's secrets in all forms in which the agent may print them.
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
	return list
}

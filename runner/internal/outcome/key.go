package outcome

import (
	"strings"

	"github.com/org/foreman-action/protocol"
)

// CommentKey returns the key of an update_comment; the default is "sticky".
func CommentKey(a protocol.ActionItem) string {
	if key := Name(a, "key"); key != "" {
		return key
	}
	return "sticky"
}

// AgentKey returns a key for an agent's comment. It differs from all keys of rules, because it
// contains a slash and they do not. An empty key stays empty.
func AgentKey(key string) string {
	if key == "" {
		return ""
	}
	return agentKeys + key
}

// BareKey returns a key without the prefix of AgentKey.
func BareKey(key string) string { return strings.TrimPrefix(key, agentKeys) }

const agentKeys = "agent/"

// SameOnce reports whether the "once" of a posted marker matches that of a comment. It also matches
// old comments of agents, whose keys have no prefix.
func SameOnce(posted, once string) bool {
	return posted == once || posted == BareKey(once)
}

// ValidKey reports whether a key can be part of a marker: 1 to 64 letters, digits, '.', '_' and
// '-'.
func ValidKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	return strings.IndexFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}) < 0
}

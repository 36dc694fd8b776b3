package memory

import "strings"

// The kinds of sources of a track record, with which Pair begins in [Action], [Proposal],
// [ScheduledClose] and [Entry].
const (
	ruleSource  = "rule:"
	agentSource = "agent:"
)

const (
	maxPair         = 128 // bytes of a Pair
	maxAgentName    = 50  // bytes of an agent's name in a Pair
	maxAgentVersion = 64  // bytes of an agent's version in a Pair
)

// RuleSource returns the source of the track record of a rule's action: "rule:" and the digest, which is
// as in [triage.Source]. It is empty for an empty digest.
func RuleSource(digest string) string {
	if digest == "" {
		return ""
	}
	return ruleSource + digest
}

// SourceDigest is the inverse of [RuleSource]; empty for any other text.
func SourceDigest(pair string) string {
	digest, ok := strings.CutPrefix(pair, ruleSource)
	if !ok {
		return ""
	}
	return digest
}

// AgentSource returns the source of the track record of an agent: "agent:" and its name in lower case,
// with "@" and its version, if there is one. It is empty for an agent without a name. Long names and
// versions are cut, and characters other than ASCII letters, digits and punctuation are replaced.
func AgentSource(name, version string) string {
	if name == "" {
		return ""
	}
	pair := agentSource + sourceWord(strings.ToLower(name), maxAgentName)
	if version != "" {
		pair += "@" + sourceWord(version, maxAgentVersion)
	}
	return pair
}

// sourceWord returns a name or a version as a part of a source, which is printed and compared.
func sourceWord(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '@' {
			return '-'
		}
		return r
	}, s)
	return s[:min(len(s), most)]
}

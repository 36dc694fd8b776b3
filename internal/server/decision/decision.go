// Package decision is the form in which the queue stores the decision of an agent: its JSON, with the
// version of the agent.
package decision

import (
	"encoding/json"

	"github.com/org/foreman-action/protocol"
)

// versionKey is the key of the version in the stored form. A decision on the wire has none: a version comes
// in a header.
const versionKey = "agent_version"

// Encode returns the stored form of a decision.
func Encode(m protocol.DecisionMessage) ([]byte, error) {
	data, err := protocol.Encode(m)
	version := protocol.ParseAgentVersion(m.AgentVersion)
	if err != nil || version == "" {
		return data, err
	}
	// A version has no character that JSON escapes.
	return append(data[:len(data)-1], `,"`+versionKey+`":"`+version+`"}`...), nil
}

// Parse reads the stored form of a decision.
func Parse(data []byte) (protocol.DecisionMessage, error) {
	m, err := protocol.ParseDecision(data)
	if err != nil {
		return m, err
	}
	var stored map[string]json.RawMessage
	var version string
	if json.Unmarshal(data, &stored) == nil && json.Unmarshal(stored[versionKey], &version) == nil {
		m.AgentVersion = protocol.ParseAgentVersion(version)
	}
	return m, nil
}

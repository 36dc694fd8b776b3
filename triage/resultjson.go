package triage

import (
	"cmp"
	"encoding/json"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// resultJSON is the published form of an [ActionResult]: in the JSON that commands print, in the
// output "actions", and in the queue. New states need no change here.
type resultJSON struct {
	Index   int                 `json:"index"`
	Type    string              `json:"type"`
	Action  protocol.ActionItem `json:"action"` // bounded
	Source  string              `json:"source"`
	Verdict Verdict             `json:"verdict"`
	Result  string              `json:"result"`
	Reason  string              `json:"reason"`
	URL     string              `json:"url"`

	Confidence protocol.Confidence `json:"confidence,omitempty"`
	Rationale  string              `json:"rationale,omitempty"`
	Proposal   int                 `json:"proposal,omitempty"`
	Carrier    Carrier             `json:"carrier,omitempty"`
	AcceptedBy string              `json:"accepted_by,omitempty"`
}

// maxText bounds each text of an action in a report, in characters. GitHub keeps 1 MiB of the outputs
// of a job, and an agent's action may be larger.
const maxText = 2000

// MarshalJSON returns the action as reports contain it. Long texts are shortened, the state becomes
// its published name, and Values is left out.
func (r ActionResult) MarshalJSON() ([]byte, error) {
	return protocol.Encode(resultJSON{
		r.Index, text.Shorten(r.Action.Type, 100), bounded(r.Action), r.Source.String(), r.Verdict, r.State.Result(),
		text.Shorten(r.Reason, maxText), r.URL, r.Confidence, text.Shorten(r.Rationale, maxText), r.Proposal, r.Carrier, r.AcceptedBy,
	})
}

// UnmarshalJSON parses the action of a report. Of a state, it restores what the published name and
// the verdict contain: [Noted] becomes [Done], and [Unknown] becomes [Failed]. If the action is
// missing, as in reports of earlier versions, only its type is set.
func (r *ActionResult) UnmarshalJSON(data []byte) error {
	var in resultJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = ActionResult{
		Index: in.Index, Action: in.Action, Source: parseSourceText(in.Source), Verdict: in.Verdict, State: State(in.Result),
		Reason: in.Reason, URL: in.URL,
		Confidence: in.Confidence, Rationale: in.Rationale, Proposal: in.Proposal, Carrier: in.Carrier, AcceptedBy: in.AcceptedBy,
	}
	r.Action.Type = cmp.Or(r.Action.Type, in.Type)
	if in.Result == Skipped.Result() {
		r.State = Refused
		if in.Verdict == Skip {
			r.State = Skipped
		}
	}
	return nil
}

// bounded returns the action with its long parameters shortened.
func bounded(a protocol.ActionItem) protocol.ActionItem {
	if len(a.String()) <= maxText {
		return a
	}
	params := map[string]any{}
	for _, name := range a.ParamNames()[:min(len(a.ParamNames()), 20)] {
		raw, _ := a.Param(name)
		value, ok, err := a.Text(name)
		switch {
		case ok && err == nil:
			params[name] = text.Shorten(value, maxText)
		case len(raw) <= 200:
			params[name] = raw
		default:
			params[name] = text.Shorten(string(raw), 200)
		}
	}
	short, err := protocol.NewAction(a.Type, params)
	if err != nil {
		return protocol.ActionItem{Type: a.Type}
	}
	return short
}

// Package proposal has the texts of proposals and people's answers to them: what an action is called,
// the comment that lists the proposals of an issue, the boxes that a person ticked in it, and whether
// the same thing was proposed before. It does no I/O.
package proposal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// MaxBody is the maximum number of characters of a comment that is proposed, because people must see
// all of it before they accept it.
const MaxBody = 4000

// TextDigest identifies the title and the body of an issue, so that a later edit is noticed.
func TextDigest(i triage.Issue) string {
	return digest([]byte(i.Title + "\n" + strings.ReplaceAll(i.Body, "\r\n", "\n")))
}

// Digest binds a line of the comment to a proposal in the record: 16 hexadecimal digits. It proves
// nothing, because everybody can compute it.
func Digest(p memory.Proposal) string {
	in := map[string]any{"number": p.Number, "source": p.Source, "action": p.Action}
	if len(p.Group) > 0 {
		in["group"] = p.Group
	}
	data, _ := protocol.Encode(in) // never fails, because the actions were decoded from JSON
	return digest(canonical(data))
}

// canonical returns JSON with sorted keys and no spaces.
func canonical(data []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return data
	}
	form, err := protocol.Encode(v)
	if err != nil {
		return data
	}
	return form
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Rejected returns the reason not to carry out an action of a source, because a person rejected its
// proposal; empty: nobody did.
func Rejected(rec memory.Record, from triage.Source, item protocol.ActionItem) string {
	for _, p := range slices.Backward(rec.Proposals) {
		if p.State == memory.Rejected && !from.OverrideHumans && proposes(p, from, item) {
			return humansWin(fmt.Sprintf("%s rejected it on %s", who(p), date(p.Ended)))
		}
	}
	return ""
}

// proposes reports whether a proposal of a source contains an action.
func proposes(p memory.Proposal, from triage.Source, item protocol.ActionItem) bool {
	return p.Source == from.ID() && slices.ContainsFunc(p.Actions(), func(a protocol.ActionItem) bool { return same(a, item) })
}

// Before returns the reason not to propose an action of a source, because of what became of the same
// proposal before; empty: it may be proposed. A proposal in a comment that expired may be made once
// more, because perhaps nobody read it.
func Before(rec memory.Record, from triage.Source, item protocol.ActionItem) string {
	expired := 0
	for _, p := range slices.Backward(rec.Proposals) {
		if !proposes(p, from, item) {
			continue
		}
		switch p.State {
		case memory.Pending:
			return fmt.Sprintf("it is proposed already (%d)", p.Number)
		case memory.Expired:
			if expired++; !from.OverrideHumans && (p.Carrier == triage.CarrierGitHub || expired > 1) {
				return humansWin(fmt.Sprintf("it was proposed on %s, and people did not accept it", date(p.At)))
			}
		case memory.Accepted:
			if spec, _ := protocol.SpecOf(item.Type); spec.Name == protocol.ActionComment && !from.OverrideHumans {
				return fmt.Sprintf("%s accepted it on %s", who(p), date(p.Ended))
			}
		case memory.Overtaken, memory.Rejected:
		}
	}
	return Rejected(rec, from, item)
}

func humansWin(what string) string {
	return what + "; Foreman does not override people (override_humans)"
}

// same reports whether two actions propose the same thing. Of a list of names, one in common suffices:
// the caller asks about each name.
func same(a, b protocol.ActionItem) bool {
	sa, _ := outcome.SpecOf(a.Type)
	sb, _ := outcome.SpecOf(b.Type)
	if cmp.Or(sa.LimitName(), a.Type) != cmp.Or(sb.LimitName(), b.Type) {
		return false
	}
	switch {
	case sa.Name == protocol.ActionComment:
		return sameComment(a, b)
	case sa.Posts():
		return outcome.CommentKey(a) == outcome.CommentKey(b) && bodyOf(a) == bodyOf(b)
	case sa.Name == "" || sa.Params == nil:
		return memory.HashAction(a) == memory.HashAction(b)
	}
	names := outcome.NamesOf(memory.NewAction(0, a).Values)
	values := memory.NewAction(0, b).Values
	if sa.Thing == protocol.ThingState {
		return true // a close is a close, whatever its reason
	}
	if len(values) == 0 || len(names) == 0 {
		return len(values) == len(names)
	}
	return len(names.In(values)) > 0
}

// sameComment compares comments by their keys of "once", or else by their texts.
func sameComment(a, b protocol.ActionItem) bool {
	if one, other := outcome.Name(a, "once"), outcome.Name(b, "once"); one != "" || other != "" {
		return one == other
	}
	return bodyOf(a) == bodyOf(b)
}

func bodyOf(a protocol.ActionItem) string {
	s, _, _ := a.Text("body")
	return strings.TrimSpace(s)
}

// Ended describes how a proposal ended, for the reason of an action.
func Ended(p memory.Proposal) string {
	switch p.State {
	case memory.Accepted:
		return fmt.Sprintf("%s accepted it on %s", who(p), date(p.Ended))
	case memory.Rejected:
		return fmt.Sprintf("%s rejected it on %s", who(p), date(p.Ended))
	case memory.Expired:
		return "its proposal expired on " + date(p.Ended)
	case memory.Overtaken:
		if p.Reason != "" {
			return fmt.Sprintf("its proposal was overtaken on %s: %s", date(p.Ended), p.Reason)
		}
		return "its proposal was overtaken on " + date(p.Ended)
	case memory.Pending:
	}
	return fmt.Sprintf("it is proposed already (%d)", p.Number)
}

// who names the person who answered a proposal.
func who(p memory.Proposal) string {
	if p.By == "" {
		return "a person"
	}
	return text.Quote(p.By)
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Permits reports whether the permission of an account suffices to accept a proposal by a command: what
// GitHub lets the account do by hand. creates means that a label of the proposal must be created.
func Permits(permission string, p memory.Proposal, creates bool) bool {
	if Writes(permission) {
		return true
	}
	return permission == "triage" && !creates && !slices.ContainsFunc(p.Actions(), func(a protocol.ActionItem) bool {
		switch a.Type {
		case protocol.ActionAddLabel, protocol.ActionAddLabels, protocol.ActionRemoveLabel, protocol.ActionAssign, protocol.ActionUnassign,
			protocol.ActionSetMilestone, protocol.ActionRemoveMilestone, protocol.ActionSetType, protocol.ActionCloseIssue,
			protocol.ActionReopenIssue, protocol.ActionMarkDuplicate, protocol.ActionRequestReview, protocol.ActionHideComment:
			return false
		}
		return true
	})
}

// Writes reports whether a permission includes writing to the repository.
func Writes(permission string) bool {
	return permission == "write" || permission == "maintain" || permission == "admin"
}

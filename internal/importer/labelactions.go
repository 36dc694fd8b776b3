package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// maxComment is the length of a comment, in bytes, beyond which it is not looked at.
const maxComment = 60_000

// maxDeeds is how many comments or labels one key may name.
const maxDeeds = 50

// threadKeys are the keys of label-actions that stand for kinds of threads.
func threadKeys() []string { return []string{"issues", "prs", "discussions"} }

// actionKeys are those that say what is done.
func actionKeys() []string {
	return []string{"close", "close-reason", "reopen", "lock", "unlock", "lock-reason", "comment", "label", "unlabel"}
}

// labelActions reads a configuration of dessant/label-actions: for each label what is
// done when it is added, and for "-label" when it is removed.
func (d *draft) labelActions(s step) {
	kinds := d.processOnly(s)
	pairs := d.pairs()
	for i, p := range pairs {
		if d.full() {
			break
		}
		d.begin(p.key.Value, p.key, next(pairs, i))
		d.labelAction(p, kinds)
	}
	d.hint("A comment is posted once for an issue; without \"once\" it is posted each time.")
	d.hint("Discussions are not handled.")
}

// processOnly returns the kinds of threads that count.
func (d *draft) processOnly(s step) []string {
	text, n := d.input(s, "process-only")
	if text == "" {
		return []string{"issues", "prs"}
	}
	var kinds []string
	for word := range strings.SplitSeq(text, ",") {
		switch word = strings.TrimSpace(word); {
		case word == "discussions":
			d.noteIn(s.file, n, 0, "discussions are not handled")
		case slices.Contains(threadKeys(), word):
			kinds = append(kinds, word)
		case word != "":
			s.file.Problemf(n, "process-only: want issues, prs or discussions, got %s", quoted(word))
		}
	}
	return kinds
}

// labelAction reads what is said of one label.
func (d *draft) labelAction(p pair, kinds []string) {
	if p.value.Kind != yaml.MappingNode {
		d.file.Problemf(p.value, "want a mapping of actions, got %s", strictyaml.Kind(p.value))
		return
	}
	event, suffix := "labeled", ""
	name, removed := strings.CutPrefix(strings.TrimSpace(p.key.Value), "-")
	if removed {
		event, suffix = "unlabeled", " removed"
	}
	name, ok := d.labelName(p.key, name)
	general, special := d.threads(p.value)
	if !ok {
		return
	}
	id := name + suffix
	when := all(is(`event.label == `+quote(name)), is(`actor.type != "Bot"`))
	issues, prs := slices.Contains(kinds, "issues"), slices.Contains(kinds, "prs")
	if issues && prs && special["issues"] == nil && special["prs"] == nil {
		d.actions(rule{id: d.id(id), on: []string{"issues." + event, "pull_request." + event}, when: when}, general)
		return
	}
	if issues {
		r := rule{on: []string{"issues." + event}, when: when}
		d.actions(d.named(r, id, " issues", prs && special["prs"] != nil), over(general, special["issues"]))
	}
	if prs {
		r := rule{on: []string{"pull_request." + event}, when: when}
		d.actions(d.named(r, id, " prs", issues && (special["issues"] != nil || len(general) > 0)), over(general, special["prs"]))
	}
}

// named gives a rule an id, with a suffix when there may be another of the same label.
func (d *draft) named(r rule, id, suffix string, more bool) rule {
	if more {
		id += suffix
	}
	r.id = d.id(id)
	return r
}

// threads splits what is said of a label into what holds in general and what is said of
// one kind of threads.
func (d *draft) threads(n *yaml.Node) (general map[string]deed, special map[string]map[string]deed) {
	general, special = map[string]deed{}, map[string]map[string]deed{}
	known := append(actionKeys(), threadKeys()...)
	for _, p := range pairsOf(n) {
		key := p.key.Value
		switch {
		case slices.Contains(threadKeys(), key) && p.value.Kind == yaml.MappingNode:
			special[key] = map[string]deed{}
			if key == "discussions" {
				d.note(p.key, "discussions are not handled")
			}
			for _, q := range pairsOf(p.value) {
				if !slices.Contains(actionKeys(), q.key.Value) {
					d.file.UnknownKey(q.key, actionKeys())
				}
				special[key][q.key.Value] = deed(q)
			}
		case slices.Contains(threadKeys(), key):
			d.file.Problemf(p.value, "%s: want a mapping of actions, got %s", key, strictyaml.Kind(p.value))
		case slices.Contains(actionKeys(), key):
			general[key] = deed(p)
		default:
			d.file.UnknownKey(p.key, known)
		}
	}
	d.checkDeeds(general)
	for _, key := range threadKeys() {
		d.checkDeeds(special[key])
	}
	return general, special
}

// over returns the deeds of one kind of threads: its own count before the general ones.
func over(general, special map[string]deed) map[string]deed {
	out := map[string]deed{}
	for _, key := range actionKeys() {
		if v, ok := general[key]; ok {
			out[key] = v
		}
		if v, ok := special[key]; ok {
			out[key] = v
		}
	}
	return out
}

// actions adds the rule with the actions for the deeds, in the order in which the source
// carries them out. A rule without any is not added.
func (d *draft) actions(r rule, deeds map[string]deed) {
	r.then = append(r.then, d.comments(r.id, deeds["comment"])...)
	comments := len(r.then)
	r.then = append(r.then, d.labels("add_label", deeds["label"])...)
	r.then = append(r.then, d.labels("remove_label", deeds["unlabel"])...)
	if deeds["close"].set() {
		r.then = append(r.then, do("close_issue", d.closeReason(deeds["close-reason"])))
	}
	if deeds["reopen"].set() {
		r.then = append(r.then, do("reopen_issue", ""))
	}
	if deeds["lock"].set() {
		r.then = append(r.then, do("lock", d.lockReason(deeds["lock-reason"])))
	}
	if v := deeds["unlock"]; v.set() {
		d.note(v.key, "there is no action that unlocks")
	}
	if len(r.then) == 0 {
		return
	}
	d.limit("comment", comments)
	d.policy.interval = d.policy.interval || comments > 0
	d.rule(r)
}

func (d *draft) comments(id string, v deed) []act {
	var out []act
	texts, at := v.texts()
	for i, s := range texts {
		if len(s) > maxComment {
			d.note(at[i], "a comment of more than %d bytes", maxComment)
			continue
		}
		once := id
		if i > 0 {
			once = d.id(id)
		}
		out = append(out, comment(once, strings.ReplaceAll(template(s), "{issue-author}", "{{ issue.author }}")))
	}
	return out
}

// comment returns the action that posts a comment once.
func comment(once, body string) act {
	return act{"comment", []param{{"once", once}, {"body", body}}}
}

func (d *draft) labels(action string, v deed) []act {
	var out []act
	texts, at := v.texts()
	for i, s := range texts {
		if name, ok := d.labelName(at[i], s); ok {
			out = append(out, do(action, template(name)))
		}
	}
	d.limit(action, len(out))
	return out
}

func (d *draft) closeReason(v deed) string {
	texts, at := v.texts()
	if len(texts) == 0 {
		return ""
	}
	switch reason := strings.ReplaceAll(texts[0], " ", "_"); reason {
	case "completed", "not_planned":
		return reason
	}
	d.note(at[0], "close-reason %s is for discussions", quoted(texts[0]))
	return ""
}

func (d *draft) lockReason(v deed) string {
	texts, at := v.texts()
	switch {
	case len(texts) == 0:
		return ""
	case !slices.Contains([]string{"off-topic", "too heated", "resolved", "spam"}, texts[0]):
		d.file.Problemf(at[0], "lock-reason: want off-topic, too heated, resolved or spam, got %s", quoted(texts[0]))
	}
	return texts[0]
}

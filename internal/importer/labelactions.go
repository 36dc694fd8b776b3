package importer

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// readLabelActions reads a configuration of dessant/label-actions. The key of a label lists the
// actions for when it is added. The key "-label" lists those for when it is removed.
func readLabelActions(doc document, s step) reading {
	kinds, found := processOnly(s)
	found = append(found, s.others("github-token", "config-path", "process-only")...)
	thread := threads{kinds, s}
	pairs, more := doc.labels("dessant/label-actions", 4)
	// The number of writes needs no limit: the rules ignore events of programs, so they cannot
	// trigger themselves.
	r := reading{before: append(found, more...), parts: eachPair(pairs, everyKey, thread.labelActions), unlimited: true}
	r.after = findings{general("Foreman comments on a locked issue only if its token may; dessant/label-actions unlocks it, and locks it again.")}
	if !s.given { // with a workflow, processOnly reports discussions
		r.after = append(r.after, general("Foreman does not handle discussions."))
	}
	return r
}

// processOnly returns the kinds of threads that the tool handles.
func processOnly(s step) (kinds []string, found findings) {
	text, n, found := s.input("process-only")
	if text == "" {
		return []string{"issues", "prs"}, found
	}
	for word := range strings.SplitSeq(text, ",") {
		switch word = strings.TrimSpace(word); {
		case word == "discussions":
			found = append(found, lost(n, "Foreman does not handle discussions").inWorkflow())
		case slices.Contains(threadKeys(), word):
			kinds = append(kinds, word)
		case word != "":
			found = append(found, wrong(n, "process-only: want issues, prs or discussions, got %s", quoted(word)).inWorkflow())
		}
	}
	return kinds, found
}

// threads are the kinds of threads that the tool handles, and the workflow's step.
type threads struct {
	kinds []string
	step  step
}

// labelActions returns the rules for one label.
func (t threads) labelActions(p pair) part {
	if p.value.Kind != yaml.MappingNode {
		return part{found: findings{wrong(p.value, "want a mapping of actions, got %s", yamlfile.Kind(p.value))}}
	}
	event, suffix := "labeled", ""
	name, removed := strings.CutPrefix(strings.TrimSpace(p.key.Value), "-")
	if removed {
		event, suffix = "unlabeled", " removed"
	}
	name, bad := labelName(p.key, name)
	general, special, found := readSettings(p.value)
	out := part{found: append(bad, found...)}
	if len(bad) > 0 {
		return out
	}
	add := func(thread, id string, s settings) {
		r := rule{name: id, on: []string{thread + event}, labels: []string{name}, when: is(`actor.type != "Bot"`)}
		if thread == "" {
			r.on = []string{"issues." + event, "pull_request." + event}
		}
		then, found := s.actions()
		r.then = then
		found = append(found, t.inVersion(r.then, s)...)
		r.override = slices.ContainsFunc(then, func(a act) bool { return a.name != "comment" })
		out.rules, out.found = append(out.rules, r), append(out.found, found...)
		out.comments = out.comments || r.count("comment") > 0
	}
	id := name + suffix
	issues := slices.Contains(t.kinds, "issues") && t.step.listensTo("issues."+event)
	prs := slices.Contains(t.kinds, "prs") && t.step.listensTo("pull_request."+event)
	if !issues && !prs {
		out.found = append(out.found, lost(p.key, "no effect: the workflow does not listen to %s for issues or pull requests, or process-only excludes them", event))
		return out
	}
	ofIssues, ofPRs := general.with(special["issues"]), general.with(special["prs"])
	switch {
	case issues && prs && ofIssues.same(ofPRs):
		add("", id, ofIssues)
		return out
	case issues:
		add("issues.", suffixed(id, " issues", prs && special["prs"] != nil), ofIssues)
	}
	if prs {
		add("pull_request.", suffixed(id, " prs", issues && (special["issues"] != nil || len(general) > 0)), ofPRs)
	}
	return out
}

// inVersion changes the actions to those of the tool's version, and reports differences for issues
// that are already closed or locked.
func (t threads) inVersion(then []act, s settings) findings {
	var found findings
	at := func(key, format string, args ...any) {
		if _, nodes := s[key].texts(); len(nodes) > 0 {
			found = append(found, lost(nodes[0], format, args...))
		}
	}
	old := t.step.version.Before(4, 0, 0)
	if old {
		reopenFirst(then)
	}
	for i, a := range then {
		switch {
		case a.name == "close_issue" && len(a.params) == 0 && !old:
			then[i] = do("close_issue", "completed")
		case a.name == "close_issue" && len(a.params) > 0 && old:
			at("close-reason", "before version 4, dessant/label-actions keeps the reason of an issue that is already closed; Foreman changes it")
		case a.name == "lock" && !old:
			at("lock-reason", "Foreman keeps the reason of an issue that is already locked; dessant/label-actions locks it again with this one")
		}
	}
	return found
}

// reopenFirst moves reopening before closing, as in versions of the tool before 4.
func reopenFirst(then []act) {
	closing := slices.IndexFunc(then, func(a act) bool { return a.name == "close_issue" })
	reopening := slices.IndexFunc(then, func(a act) bool { return a.name == "reopen_issue" })
	if closing >= 0 && reopening > closing {
		then[closing], then[reopening] = then[reopening], then[closing]
	}
}

// same reports whether two kinds of threads have the same actions.
func (s settings) same(o settings) bool {
	mine, found := s.actions()
	theirs, more := o.actions()
	return reflect.DeepEqual(mine, theirs) && len(found) == len(more)
}

// suffixed returns an id with a suffix if there may be another rule for the same label.
func suffixed(id, suffix string, more bool) string {
	if more {
		return id + suffix
	}
	return id
}

// actions returns the actions for settings, in the order in which the tool performs them.
func (s settings) actions() ([]act, findings) {
	then, found := s["comment"].comments()
	added, more := s["label"].labels("add_label")
	then, found = append(then, added...), append(found, more...)
	removed, more := s["unlabel"].labels("remove_label")
	then, found = append(then, removed...), append(found, more...)
	if s["close"].isTrue() {
		reason, more := s["close-reason"].closeReason()
		then, found = append(then, do("close_issue", reason)), append(found, more...)
	}
	if s["reopen"].isTrue() {
		then = append(then, do("reopen_issue", ""))
	}
	if s["lock"].isTrue() {
		reason, more := s["lock-reason"].lockReason()
		then, found = append(then, do("lock", reason)), append(found, more...)
	}
	if s["unlock"].isTrue() {
		then = append(then, do("unlock", ""))
	}
	return then, found
}

func (v setting) comments() (out []act, found findings) {
	texts, at := v.texts()
	for i, s := range texts {
		if len(s) > maxComment {
			found = append(found, lost(at[i], "the comment has more than %d bytes, so it was not imported", maxComment))
			continue
		}
		// The tool replaces only the first {issue-author}.
		out = append(out, do("comment", strings.Replace(template(s), "{issue-author}", "{{ issue.author }}", 1)))
	}
	return out, found
}

func (v setting) labels(action string) (out []act, found findings) {
	texts, at := v.texts()
	var names []string
	for i, s := range texts {
		name, bad := labelName(at[i], s)
		if found = append(found, bad...); len(bad) == 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if action == "add_label" && len(names) > 1 {
		return []act{{name: "add_labels", list: names}}, found
	}
	for _, name := range names {
		out = append(out, do(action, template(name)))
	}
	return out, found
}

func (v setting) closeReason() (string, findings) {
	texts, at := v.texts()
	if len(texts) == 0 {
		return "", nil
	}
	switch reason := strings.ReplaceAll(texts[0], " ", "_"); reason {
	case "completed", "not_planned":
		return reason, nil
	}
	return "", findings{lost(at[0], "close-reason %s applies to discussions only", quoted(texts[0]))}
}

func (v setting) lockReason() (string, findings) {
	texts, at := v.texts()
	switch {
	case len(texts) == 0:
		return "", nil
	case !slices.Contains([]string{"off-topic", "too heated", "resolved", "spam"}, texts[0]):
		return texts[0], findings{wrong(at[0], "lock-reason: want off-topic, too heated, resolved or spam, got %s", quoted(texts[0]))}
	}
	return texts[0], nil
}

package main

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
)

//go:embed pages
var templates embed.FS

// render returns the pages by their paths in docs. Each placeholder occurs once in all templates.
func render() (map[string]string, error) {
	pages := map[string]string{}
	err := fs.WalkDir(templates, "pages", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		name := strings.TrimSuffix(strings.TrimPrefix(path, "pages/"), ".in")
		pages[name] = "<!-- Made by go generate ./rules/... from rules/internal/docgen/" + path + ". -->\n\n" + string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	for place, text := range map[string]string{
		"rule keys":      keyTable(ruleKeyDocs()),
		"file keys":      keyTable(fileKeyDocs()),
		"events":         eventTable(),
		"default events": inCodes(events.Defaults(), " and "),
		"names":          referenceTable(false),
		"functions":      referenceTable(true),
		"look-ups":       lookupTable(),
		"form types":     keyTable(formTypeDocs()),
		"test keys":      keyTable(testKeyDocs()),
		"expect keys":    keyTable(expectKeyDocs()),
		"actions":        actionTable(),
		"traps":          trapTable(),
		"surprises":      surpriseTable(),
		"doubts":         doubtTable(),
		"limits":         limitTable(),
		"action limits":  actionLimitTable(),
	} {
		mark, found := "<!-- "+place+" -->", 0
		for name, page := range pages {
			found += strings.Count(page, mark)
			pages[name] = strings.ReplaceAll(page, mark, strings.TrimRight(text, "\n"))
		}
		if found != 1 {
			return nil, fmt.Errorf("the templates have %s %d times: want it once", mark, found)
		}
	}
	return pages, nil
}

// inCode returns an inline code span for any text, for a cell of a table.
func inCode(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	switch {
	case strings.Contains(s, "`"):
		return "`` " + s + " ``"
	case s == "":
		return ""
	}
	return "`" + s + "`"
}

func inCodes(list []string, last string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = inCode(s)
	}
	if last == "" || len(out) < 2 {
		return strings.Join(out, ", ")
	}
	return strings.Join(out[:len(out)-1], ", ") + last + out[len(out)-1]
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// keyTable returns a table of keys and their descriptions.
func keyTable(keys []entry) string {
	var b strings.Builder
	b.WriteString("| key | meaning |\n|---|---|\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.name, cellText(k.doc))
	}
	return b.String()
}

// eventTable lists the activities of each event.
func eventTable() string {
	var order []string
	activities := map[string][]string{}
	for _, key := range events.Keys() {
		event, activity, _ := strings.Cut(key, ".")
		if !slices.Contains(order, event) {
			order = append(order, event)
		}
		if activity != "" && activity != "*" {
			activities[event] = append(activities[event], activity)
		}
	}
	var b strings.Builder
	b.WriteString("| event | `event.activity` |\n|---|---|\n")
	for _, event := range order {
		list := inCodes(activities[event], "")
		switch {
		case event == "repository_dispatch":
			list = "none, or a type of your own"
		case list == "":
			list = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", event, list)
	}
	return b.String()
}

// referenceTable returns the table of functions, or of values, from [rules.Reference].
func referenceTable(functions bool) string {
	var b strings.Builder
	b.WriteString("| name | is | example |\n|---|---|---|\n")
	for _, n := range rules.Reference() {
		if strings.HasPrefix(n.Type, "(") != functions {
			continue
		}
		name, is := n.Name, n.Type+": "+n.Doc
		if functions {
			end := strings.Index(n.Type, ") ") + 1
			name, is = n.Name+n.Type[:end], strings.TrimSpace(n.Type[end:])+": "+n.Doc
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inCode(name), cellText(is), inCode(n.Example))
	}
	return b.String()
}

// lookupTable lists the look-ups with their usual number of calls.
func lookupTable() string {
	var b strings.Builder
	b.WriteString("| looked up | calls at most, usually |\n|---|---|\n")
	for _, s := range facts.LookupSpecs() {
		var names []string
		for _, f := range s.Fields {
			names = append(names, s.Root+"."+f.Name)
		}
		fmt.Fprintf(&b, "| %s | %d |\n", inCodes(names, ""), s.Calls)
	}
	b.WriteString("| `actor.permission` | 1 |\n")
	return b.String()
}

// actionTable lists the actions and their parameters.
func actionTable() string {
	var b strings.Builder
	b.WriteString("| action | parameters | effect |\n|---|---|---|\n")
	for _, s := range action.Specs() {
		var params []string
		for _, p := range s.Params {
			params = append(params, paramText(s, p))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, strings.Join(params, "; "), s.Doc)
	}
	return b.String()
}

func paramText(s protocol.ActionSpec, p protocol.Param) string {
	text := inCode(p.Name)
	if p.Name == s.Main {
		text = "**" + text + "**"
	}
	kind := map[protocol.ParamKind]string{
		protocol.KindMarkdown: "Markdown", protocol.KindTexts: "list of texts",
		protocol.KindInt: "whole number", protocol.KindDuration: "duration",
	}[p.Kind]
	if len(p.Enum) > 0 {
		if kind != "" {
			kind += " of "
		}
		kind += inCodes(p.Enum, "")
	}
	if kind != "" {
		text += ": " + kind
	}
	switch {
	case s.NeedsOne:
		text += " (at least one of them)"
	case !p.Required:
		text += " (optional)"
	}
	return text
}

// trapTable lists the traps.
func trapTable() string {
	var b strings.Builder
	b.WriteString("| written | result | write |\n|---|---|---|\n")
	for _, d := range docTraps() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inCode(d.written), d.why, inCode(d.instead))
	}
	return b.String()
}

// surpriseTable lists the surprises.
func surpriseTable() string {
	var b strings.Builder
	b.WriteString("| written | mind | perhaps |\n|---|---|---|\n")
	for _, d := range docSurprises() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inCode(d.written), cellText(d.why), inCode(d.instead))
	}
	return b.String()
}

// doubtTable lists the conditions of which "rules check" warns.
func doubtTable() string {
	var b strings.Builder
	b.WriteString("| written | on | why | perhaps |\n|---|---|---|---|\n")
	for _, d := range docDoubts() {
		instead := d.instead
		if !strings.HasPrefix(instead, "listen to ") {
			instead = inCode(instead)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", inCode(d.written), d.on, cellText(d.why), instead)
	}
	return b.String()
}

// limitTable lists the limits.
func limitTable() string {
	var b strings.Builder
	b.WriteString("| limit | at most |\n|---|---|\n")
	for _, l := range rules.Limits() {
		fmt.Fprintf(&b, "| %s | %s %s |\n", l.What, thousands(l.Most), l.Of)
	}
	return b.String()
}

// actionLimitTable lists the numbers of actions for one event without a policy.
func actionLimitTable() string {
	var order []int
	names := map[int][]string{}
	for _, s := range protocol.ActionSpecs() {
		if s.CountsAs != "" {
			continue
		}
		if names[s.Limit] == nil {
			order = append(order, s.Limit)
		}
		names[s.Limit] = append(names[s.Limit], s.Name)
	}
	slices.Sort(order)
	var b strings.Builder
	b.WriteString("| for one event at most | of |\n|---|---|\n")
	for _, n := range order {
		fmt.Fprintf(&b, "| %d | %s |\n", n, inCodes(names[n], ""))
	}
	return b.String()
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

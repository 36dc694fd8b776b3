package parity_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/importer/antislop"
)

// TestGenerate regenerates the events of each case. The result is the same each time.
func TestGenerate(t *testing.T) { //nolint:paralleltest // it writes the cases
	if !*generate {
		t.Skip("needs -generate")
	}
	for _, tool := range importer.Tools() {
		for _, c := range cases(t, tool) {
			h := fnv.New64a()
			_, _ = h.Write([]byte(tool + "/" + c.name)) // never returns an error
			g := &generator{rand.New(rand.NewPCG(h.Sum64(), 1)), t, c, nil}
			switch tool {
			case "labeler":
				g.pulls()
			case "issue-labeler":
				g.texts()
			case "label-actions":
				g.labelings()
			case "stale":
				g.stories()
			case "anti-slop":
				g.contributions()
			}
			set(t, c, "events", g.events)
		}
	}
}

// A generator generates the events of one case.
type generator struct {
	*rand.Rand
	t      *testing.T
	c      *parityCase
	events []event
}

func (g *generator) add(e event) {
	if e.On != "scan" || e.ID == "" {
		e.ID = fmt.Sprintf("e%02d", len(g.events)+1)
	}
	g.events = append(g.events, e)
}

// chance returns true with a probability of n percent.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

func pick[T any](g *generator, list []T) T {
	var zero T
	if len(list) == 0 {
		return zero
	}
	return list[g.IntN(len(list))]
}

// some returns up to n of a list, each once.
func some(g *generator, list []string, n int) []string {
	var out []string
	for range g.IntN(n + 1) {
		if s := pick(g, list); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (g *generator) pool(name string) []string {
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// paths returns real paths of the case's repository, or of other repositories if none are recorded.
func (g *generator) paths() []string {
	var own, all []string
	for _, line := range g.pool("paths.txt") {
		repo, path, _ := strings.Cut(line, " ")
		all = append(all, path)
		if repo == g.c.repo() {
			own = append(own, path)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

// pulls generates pull requests, some of which get further changes.
func (g *generator) pulls() {
	globs, branches := patternsOf(g.c)
	paths, titles, labels, bases := g.paths(), g.pool("titles.txt"), configured(g.t, g.c), g.bases()
	files := func() []string {
		out := some(g, paths, 4)
		for range g.IntN(3) {
			if p := g.glob(pick(g, globs)); p != "" && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		if len(out) == 0 {
			out = []string{pick(g, paths)}
		}
		return out
	}
	for w := 1; len(g.events) < g.c.size(44); w++ {
		e := event{World: w, On: "pull_request.opened", Title: pick(g, titles), Files: files(), Head: "patch-" + strconv.Itoa(w)}
		if len(branches) > 0 && g.chance(50) {
			e.Head = g.matching(pick(g, branches))
		}
		if len(bases) > 0 {
			e.Base = pick(g, bases)
		}
		if g.chance(25) {
			e.Author = pick(g, []string{"dependabot[bot]", "renovate[bot]", "maintainer"})
		}
		e.Draft = g.chance(15)
		if g.chance(40) {
			e.Labels, e.By = some(g, append(slices.Clone(labels), "help wanted"), 3), pick(g, []string{"", "maintainer"})
		}
		switch {
		case g.chance(10):
			e.On, e.State = "pull_request.reopened", "closed"
		case g.chance(8):
			e.On = "pull_request.ready_for_review"
		case g.chance(8): //nolint:gocritic // drawn anew
			e.On, e.Title = "pull_request.edited", pick(g, titles)
		}
		g.add(e)
		for range g.IntN(3) {
			next := event{World: w, On: "pull_request.synchronize", Files: files(), Day: 1}
			switch {
			case g.chance(12):
				next.On, next.Files, next.Label, next.Actor = "pull_request.labeled", nil, pick(g, labels), "maintainer"
			case g.chance(12): //nolint:gocritic // drawn anew
				next.On, next.Files, next.Label, next.Actor = "pull_request.unlabeled", nil, pick(g, labels), "maintainer"
			case g.chance(10):
				next.On, next.Files, next.Title = "pull_request.edited", nil, pick(g, titles)
			}
			g.add(next)
		}
	}
}

// bases returns base branches, some of which pass the filters of the workflow; nil: it has none.
func (g *generator) bases() []string {
	for _, name := range []string{"pull_request", "pull_request_target"} {
		if on := readFlowOf(g.t, g.c).on[name]; on.Branches != nil || on.BranchesIgnore != nil {
			bases := []string{"", "release/2.x"}
			for _, p := range slices.Concat(on.Branches, on.BranchesIgnore) {
				bases = append(bases, g.glob(p))
			}
			return bases
		}
	}
	return nil
}

// texts generates issues whose texts match some of the regular expressions.
func (g *generator) texts() {
	_, expressions := patternsOf(g.c)
	titles, labels := g.pool("titles.txt"), configured(g.t, g.c)
	kind := "issues"
	if readFlow(g.t, g.c.workflow.Data, actionOf(g.c.tool)).hears("issues", "opened", "", nil) == "" {
		kind = "pull_request"
	}
	body := func() string {
		b := pick(g, []string{"", "Since the last release.\n", "### What happened?\n\nIt stopped.\n", "Steps:\r\n\r\n1. Open\r\n2. Wait\r\n", "- [x] I searched.\n"})
		for range g.IntN(4) {
			b += pick(g, []string{"", "\n", "See also: "}) + g.matching(pick(g, expressions)) + pick(g, []string{"", "\n", ".\n", " and more\n"})
		}
		return b
	}
	title := func() string {
		s := pick(g, titles)
		if g.chance(30) {
			s = pick(g, []string{"", s + " "}) + strings.Join(strings.Fields(g.matching(pick(g, expressions))), " ")
		}
		if g.chance(10) {
			s = strings.ToUpper(s)
		}
		return cmp.Or(strings.TrimSpace(s), "Title")
	}
	for w := 1; len(g.events) < g.c.size(44); w++ {
		e := event{World: w, On: kind + ".opened", Title: title(), Body: body()}
		if g.chance(20) {
			e.Author = pick(g, []string{"renovate[bot]", "maintainer"})
		}
		if g.chance(40) {
			e.Labels, e.By = some(g, labels, 2), pick(g, []string{"", "maintainer"})
		}
		switch {
		case kind == "pull_request" && g.chance(80):
			e.On, e.Merged, e.Files = "pull_request.closed", g.chance(70), []string{"README.md"}
		case kind == "pull_request":
			e.Files = []string{"README.md"}
		case g.chance(8):
			e.On, e.State = "issues.reopened", "closed completed"
		}
		g.add(e)
		for range g.IntN(3) {
			next := event{World: w, Day: 1, On: kind + ".edited", Title: title(), Body: body()}
			switch {
			case g.chance(20):
				next = event{World: w, Day: 1, On: kind + ".labeled", Label: pick(g, labels), Actor: "maintainer"}
			case g.chance(15):
				next = event{World: w, Day: 1, On: "issue_comment.created", Body: body(), Actor: "helper"}
			}
			g.add(next)
		}
	}
}

// labelings generates issues and pull requests on which people add and remove labels.
func (g *generator) labelings() {
	labels, keys := configured(g.t, g.c), keysOf(g.c)
	titles := g.pool("titles.txt")
	for w := 1; len(g.events) < g.c.size(44); w++ {
		label := strings.TrimPrefix(keys[w%len(keys)], "-")
		kind := pick(g, []string{"issues", "issues", "pull_request"})
		e := event{World: w, On: kind + ".labeled", Title: pick(g, titles), Label: label, Actor: "maintainer"}
		if g.chance(25) || strings.HasPrefix(keys[w%len(keys)], "-") && g.chance(70) {
			e.On = kind + ".unlabeled"
		}
		e.Labels = slices.DeleteFunc(some(g, labels, 3), func(l string) bool { return l == label })
		e.By = pick(g, []string{"", "maintainer"})
		if kind == "pull_request" {
			e.Files = []string{"README.md"}
		}
		switch {
		case g.chance(25):
			e.State = pick(g, []string{"closed completed", "closed not_planned"})
		case g.chance(10):
			e.Label = "help wanted"
		}
		if g.chance(20) {
			e.Lock = pick(g, []string{"none", "off-topic", "resolved"})
		}
		if g.chance(10) {
			e.Actor = "triage[bot]"
		}
		g.add(e)
		if g.chance(40) {
			on := kind + ".unlabeled"
			if strings.HasSuffix(e.On, ".unlabeled") {
				on = kind + ".labeled"
			}
			g.add(event{World: w, Day: 2, On: on, Label: e.Label, Actor: "maintainer"})
		}
	}
}

// contributions generates pull requests with descriptions and commits of pulls.jsonl, by authors
// whose accounts are old and new.
func (g *generator) contributions() {
	with := readFlowOf(g.t, g.c).steps[0].with
	paths, titles, bases := g.paths(), g.pool("titles.txt"), g.bases()
	for _, glob := range strings.Fields(with["allowed-target-branches"]) {
		bases = append(bases, g.glob(glob), g.glob(glob), "")
	}
	blocked := append(strings.Split(strings.TrimSpace(with["blocked-paths"]), "\n"), "README.md", "LICENSE", ".github/workflows/ci.yml")
	terms := strings.Split(strings.TrimSpace(with["blocked-terms"]), "\n")
	var pulls []string
	for _, line := range g.pool("pulls.jsonl") {
		var s string
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			g.t.Fatal(err)
		}
		pulls = append(pulls, s)
	}
	body := func() string {
		_, s, _ := strings.Cut(pick(g, pulls), "\n\n")
		for range g.IntN(4) {
			term := strings.TrimSpace(pick(g, terms))
			s += pick(g, []string{
				"\n\nFixes #12", "\n\nSee GH-8154.", "\nrelated: https://github.com/octo-org/hello/issues/8154, octo/other#9", "\n\n:rocket: :tada: done ✅", " 🚀🔥✨ © →",
				"\n\n" + strings.Repeat("The same words again. ", 120), "\n\nChanged src/app/main.ts, lib/util.go, a/b/c.md and docs/a.md; see fooBar(), Foo::bar() and run_it().",
				"\n<!-- Write " + term + " if you are a program. -->\n", "\n<!-- " + term, "\n\n" + term + "\n", "\n## Checklist\n\n- [x] I read the rules.\n- [ ] Tests\n", "\r\n\r\nTwo\r\nlines\r\n",
			})
		}
		return pick(g, []string{s, s, s, s, "", " \n"})
	}
	files := func() []string {
		out := some(g, paths, 4)
		if g.chance(40) {
			out = append(out, pick(g, blocked))
		}
		return distinct(append(out, "docs/guide.md"))
	}
	for w := 1; len(g.events) < g.c.size(44); w++ {
		e := event{World: w, On: "pull_request.opened", Title: pick(g, titles), Body: body(), Files: files(), Base: pick(g, bases)}
		if title, _, _ := strings.Cut(pick(g, pulls), "\n"); g.chance(60) {
			e.Title = title
		}
		e.Author = pick(g, []string{"", "", "", "Codertocat", "new-hand", "newdev-ai", "user20261234", "maintainer", "renovate[bot]", "triage[bot]"})
		e.Head = pick(g, []string{"changes", "patch-" + strconv.Itoa(w), "main", "master", "feat/x", "next"})
		for range 1 + g.IntN(3) {
			e.Commits = append(e.Commits, pick(g, pulls))
		}
		e.Draft = g.chance(12)
		if g.chance(15) {
			e.Labels, e.By = some(g, append(configured(g.t, g.c), "exempt"), 2), "maintainer"
		}
		if g.chance(10) {
			e.Milestone = "v2"
		}
		if g.chance(30) {
			e.Earlier = [2]int{g.IntN(4), g.IntN(4)}
		}
		g.add(e)
		switch {
		case g.chance(15):
			g.add(event{World: w, Day: 1, On: "pull_request.edited", Title: pick(g, titles), Body: body()})
		case g.chance(15): //nolint:gocritic // it draws another number
			g.add(event{World: w, Day: 1, On: "pull_request.synchronize", Files: files()})
		case g.chance(20):
			g.add(event{World: w, Day: 1, On: "pull_request.reopened", Actor: "maintainer"})
		}
	}
}

// stories generates issues and pull requests with changes by people, and scheduled runs.
func (g *generator) stories() {
	titles, labels := g.pool("titles.txt"), append(configured(g.t, g.c), "bug", "help wanted")
	for w := 1; w <= g.c.size(48)/8; w++ {
		kind := []string{"issue", "pr"}[w%2]
		stale, closing := g.days("stale", kind), g.days("close", kind)
		scans := []float64{stale + 20, stale + closing + 21.5, stale + 2*closing + 23.5}
		n := 1
		var list []event
		for ; n <= 8; n++ {
			list = append(list, g.story(w, n, titles, labels, scans)...)
		}
		for _, day := range scans {
			list = append(list, event{World: w, On: "scan", Day: day})
		}
		slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.Day, b.Day) })
		for _, e := range list {
			g.add(e)
		}
	}
}

// story generates the events of one issue of a world.
func (g *generator) story(w, n int, titles, labels []string, scans []float64) []event {
	kind := pick(g, []string{"issues", "issues", "pull_request"})
	if w%2 == 1 {
		kind = pick(g, []string{"issues", "pull_request", "pull_request"})
	}
	day := func(from, to float64) float64 { return math.Round((from+g.Float64()*(to-from))*100) / 100 }
	first := event{World: w, Number: n, On: kind + ".opened", Title: pick(g, titles), Day: day(0, 15)}
	first.Labels, first.By = some(g, labels, 2), pick(g, []string{"", "maintainer"})
	if kind == "pull_request" {
		first.Files, first.Draft = []string{"README.md"}, g.chance(20)
	}
	if g.chance(15) {
		first.Assignee = "helper"
	}
	if g.chance(10) {
		first.Milestone = "v2"
	}
	if g.chance(5) {
		first.Lock = "resolved"
	}
	list := []event{first}
	spans := [][2]float64{{15, scans[0]}, {scans[0] + 0.5, scans[1] - 0.1}, {scans[1] + 0.1, scans[2] - 0.1}}
	for _, span := range spans {
		if g.chance(45) {
			e := g.activity(kind, labels)
			e.World, e.Number, e.Day = w, n, day(span[0], span[1])
			list = append(list, e)
		}
	}
	return list
}

// activity generates a person's change of an issue.
func (g *generator) activity(kind string, labels []string) event {
	actor := pick(g, []string{"", "maintainer", "helper", "triage[bot]"})
	switch g.IntN(10) {
	case 0, 1, 2:
		return event{On: "issue_comment.created", Body: "Any news?", Actor: actor}
	case 3:
		return event{On: kind + ".labeled", Label: pick(g, labels), Actor: "maintainer"}
	case 4:
		return event{On: kind + ".unlabeled", Label: pick(g, labels), Actor: "maintainer"}
	case 5:
		return event{On: kind + ".assigned", Assignee: "helper", Actor: "maintainer"}
	case 6:
		return event{On: kind + ".edited", Title: "A better title", Actor: actor}
	case 7:
		if kind == "pull_request" {
			return event{On: kind + ".synchronize", Files: []string{"src/a.go"}}
		}
		return event{On: kind + ".milestoned", Milestone: "v3", Actor: "maintainer"}
	case 8:
		return event{On: kind + ".closed", Actor: "maintainer"}
	}
	return event{On: kind + ".reopened", Actor: "maintainer"}
}

// days returns an input of stale in days, such as days-before-issue-close, or its usual value.
func (g *generator) days(what, kind string) float64 {
	f := readFlow(g.t, g.c.workflow.Data, actionOf("stale"))
	with := f.steps[0].with
	for _, name := range []string{"days-before-" + kind + "-" + what, "days-before-" + what} {
		if d, err := strconv.ParseFloat(with[name], 64); err == nil && d >= 0 {
			return d
		}
	}
	return map[string]float64{"stale": 60, "close": 7}[what]
}

// keysOf returns the labels that are keys of a configuration, as written.
func keysOf(c *parityCase) []string {
	var n yaml.Node
	if yaml.Unmarshal(c.source.Data, &n) != nil || len(n.Content) == 0 {
		return nil
	}
	var list []string
	for i := 0; i < len(n.Content[0].Content); i += 2 {
		list = append(list, n.Content[0].Content[i].Value)
	}
	return list
}

// configured returns the labels that a configuration names.
func configured(t *testing.T, c *parityCase) []string {
	var list []string
	switch c.tool {
	case "stale":
		for _, s := range readFlowOf(t, c).steps {
			for _, name := range []string{"stale-issue-label", "stale-pr-label"} {
				if s.with[name] == "" {
					list = append(list, "Stale")
				}
			}
			for name, value := range s.with {
				if strings.HasSuffix(name, "-label") || strings.Contains(name, "labels") {
					for word := range strings.SplitSeq(value, ",") {
						if word = strings.TrimSpace(word); word != "" && !strings.Contains(word, "${{") {
							list = append(list, word)
						}
					}
				}
			}
		}
		for _, v := range readFlowOf(t, c).env {
			list = append(list, textOf(v))
		}
	case "anti-slop":
		for name, value := range readFlowOf(t, c).steps[0].with {
			if strings.HasSuffix(name, "-labels") || strings.HasSuffix(name, "-label") {
				list = append(list, antislop.Words(value)...)
			}
		}
		list = append(list, "exempt")
	default:
		for _, k := range keysOf(c) {
			if c.tool == "label-actions" {
				k = strings.TrimPrefix(k, "-")
			}
			list = append(list, k)
		}
	}
	if c.tool == "label-actions" {
		var n yaml.Node
		if yaml.Unmarshal(c.source.Data, &n) == nil {
			eachMapping(&n, func(key string, value *yaml.Node) {
				if key == "label" || key == "unlabel" {
					list = append(list, scalars(value)...)
				}
			})
		}
	}
	slices.Sort(list)
	return slices.CompactFunc(list, strings.EqualFold)
}

func readFlowOf(t *testing.T, c *parityCase) flow {
	t.Helper()
	return readFlow(t, c.workflow.Data, actionOf(c.tool))
}

func eachMapping(n *yaml.Node, f func(key string, value *yaml.Node)) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			f(child.Value, n.Content[i+1])
		}
		eachMapping(child, f)
	}
}

func scalars(n *yaml.Node) []string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var list []string
	for _, c := range n.Content {
		list = append(list, scalars(c)...)
	}
	return list
}

// patternsOf returns the globs and the regular expressions of a configuration.
func patternsOf(c *parityCase) (globs, expressions []string) {
	var n yaml.Node
	if yaml.Unmarshal(c.source.Data, &n) != nil {
		return nil, nil
	}
	for i := 1; i < len(n.Content[0].Content); i += 2 {
		value := n.Content[0].Content[i]
		if c.tool == "issue-labeler" {
			expressions = append(expressions, scalars(value)...)
			continue
		}
		var branches []string
		eachMapping(value, func(key string, v *yaml.Node) {
			if key == "head-branch" || key == "base-branch" {
				branches = append(branches, scalars(v)...)
			}
		})
		expressions = append(expressions, branches...)
		for _, s := range scalarValues(value) {
			if !slices.Contains(branches, s) {
				globs = append(globs, s)
			}
		}
	}
	return globs, expressions
}

// scalarValues returns the scalars below a node, except keys.
func scalarValues(n *yaml.Node) []string {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}
	case yaml.AliasNode:
		return scalarValues(n.Alias)
	}
	var list []string
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			list = append(list, scalarValues(c)...)
		}
	}
	return list
}

// glob returns a path that a glob is likely to match.
func (g *generator) glob(glob string) string {
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "!"), "./")
	for strings.Contains(glob, "{") {
		before, rest, _ := strings.Cut(glob, "{")
		inner, after, ok := strings.Cut(rest, "}")
		if !ok {
			return ""
		}
		glob = before + pick(g, strings.Split(inner, ",")) + after
	}
	for _, r := range [][]string{
		{"**/*", "src/deep/file.py", "file.md", ".hidden/file.yml"}, {"**", "a/b", "file.txt", ".config/x"},
		{"*", "name", "a.b", "test_x"}, {"?", "q"},
	} {
		for strings.Contains(glob, r[0]) {
			glob = strings.Replace(glob, r[0], pick(g, r[1:]), 1)
		}
	}
	if strings.HasSuffix(glob, "/") {
		glob += "file"
	}
	return strings.ReplaceAll(strings.Trim(glob, "/"), "//", "/")
}

// matching returns a text that a regular expression is likely to match.
func (g *generator) matching(expression string) string {
	if rest, ok := strings.CutPrefix(expression, "/"); ok && strings.Contains(rest, "/") {
		expression = rest[:strings.LastIndex(rest, "/")]
	}
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return strings.Trim(expression, "^$()[]\\")
	}
	var b strings.Builder
	g.sample(&b, re)
	return b.String()
}

func (g *generator) sample(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(re.Rune[0] + rune(g.IntN(int(min(re.Rune[1]-re.Rune[0], 20))+1)))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString(pick(g, []string{"x", " ", "-", "7"}))
	case syntax.OpStar, syntax.OpQuest:
		for range g.IntN(2) {
			g.sample(b, re.Sub[0])
		}
	case syntax.OpPlus:
		g.sample(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			g.sample(b, re.Sub[0])
		}
	case syntax.OpAlternate:
		g.sample(b, pick(g, re.Sub))
	case syntax.OpConcat, syntax.OpCapture:
		for _, s := range re.Sub {
			g.sample(b, s)
		}
	}
}

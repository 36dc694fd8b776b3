// Package recipes contains the recipes of the documentation. A recipe is a rule file with tests
// that fulfils one wish. The file begins with a header of comments: the title, a paragraph about
// the recipe, which may be missing, the topic, and words under which people look for it.
//
// [All] returns the recipes, [Recipe.Page] the page of the documentation, [Index] the page that
// lists all of them, and [Join] the rule file of several recipes.
package recipes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.yml
var files embed.FS

// A Recipe is a rule file with tests for one wish.
type Recipe struct {
	Name  string // of its file, without the ending
	Title string
	About string // Markdown; may be empty
	Topic string // one of [Topics]
	Words []string
	Rules string // the file without its header
}

// Topics returns the topics of the recipes, in the order of the index.
func Topics() []string {
	return []string{"reports", "forms", "newcomers", "quiet issues", "commands and labels", "assignment", "pull requests", "spam and safety"}
}

// All returns the recipes in the order of their names.
func All() ([]Recipe, error) {
	names, err := fs.Glob(files, "*.yml")
	if err != nil {
		return nil, err
	}
	list := make([]Recipe, 0, len(names))
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r, err := parse(strings.TrimSuffix(name, path.Ext(name)), string(data))
		if err != nil {
			return nil, fmt.Errorf("docs/recipes/%s: %w", name, err)
		}
		list = append(list, r)
	}
	return list, nil
}

var header = regexp.MustCompile(`^# (.+)\n#\n((?:# .+\n)*)(?:#\n)?# Topic: (.+)\n# Words: (.+)\n(version: 1\n(?s:.+))$`)

// parse parses a recipe.
func parse(name, text string) (Recipe, error) {
	m := header.FindStringSubmatch(text)
	if m == nil {
		return Recipe{}, fmt.Errorf("the header is not a title, a paragraph, Topic: and Words:, followed by version: 1")
	}
	r := Recipe{
		Name: name, Title: m[1], About: strings.TrimSpace(strings.ReplaceAll("\n"+m[2], "\n# ", "\n")),
		Topic: m[3], Words: strings.Split(m[4], ", "), Rules: m[5],
	}
	if !slices.Contains(Topics(), r.Topic) {
		return Recipe{}, fmt.Errorf("unknown topic %q: want one of %s", r.Topic, strings.Join(Topics(), ", "))
	}
	return r, nil
}

// Page returns the page of the recipe in Markdown.
func (r Recipe) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", r.Title)
	if r.About != "" {
		b.WriteString(r.About + "\n\n")
	}
	fmt.Fprintf(&b, "```yaml\n# .github/foreman.yml\n%s```\n\n", r.Rules)
	fmt.Fprintf(&b, "`foreman init --recipe %s` writes this file with `mode: shadow`, and a workflow for it. The playground "+
		"has it among its examples. [All recipes](README.md) are on one page.\n\n", r.Name)
	fmt.Fprintf(&b, "Explained under %s.\n\nAlso found as: %s.\n", strings.Join(r.explained(), ", "), strings.Join(r.Words, ", "))
	return b.String()
}

// explained returns links to the pages about the parts of the language that the recipe uses.
func (r Recipe) explained() []string {
	links := []string{"[conditions](../rules/conditions.md)"}
	for _, part := range []struct{ word, link string }{
		{`\bform\.`, "[issue forms](../rules/forms.md)"},
		{`\btables\.`, "[tables](../rules/tables.md)"},
		{`\bcommand\(`, "[commands](../rules/commands.md)"},
		{`\bscan:`, "[schedule](../rules/schedule.md)"},
		{`\bpr\.|_file\(`, "[pull requests](../pull-requests.md)"},
		{`\bonce:|\bkey:|else_undo:|\bafter:|never_again`, "[once, undo, later](../rules/undo.md)"},
		{`\btogether:`, "[all or none](../rules/together.md)"},
		{`override_humans:|removed_by_human|added_by_us|last_human`, "[people win](../rules/people.md)"},
		{`\{\{`, "[values in texts](../rules/texts.md)"},
	} {
		if regexp.MustCompile(part.word).MatchString(r.Rules) {
			links = append(links, part.link)
		}
	}
	return append(links, "[tests](../rules/tests.md)")
}

// Index returns the page that lists the recipes, in Markdown.
func Index(list []Recipe) string {
	var b strings.Builder
	b.WriteString(`<!-- Made by go test ./docs/recipes -update from the files beside it. -->

# Recipes

Each recipe is a rule file for one wish, with its tests. Copy it to ` + "`.github/foreman.yml`" + `, or let
` + "`foreman init --recipe NAME`" + ` write it, together with a workflow that listens to its events. Several names, with
commas between them, become one file. ` + "`foreman init --recipe list`" + ` prints the names.

Labels, teams, texts and days are examples: change them. A label that the repository lacks is skipped. Rules that only
maintainers may trigger test their permission. Rules never undo what people did, unless they say ` + "`override_humans`" + `.

[The rule language](../rules.md) has a page for each question about rules, and [limits](../limits.md) has the numbers.
[What Foreman does not do](../what-foreman-does-not-do.md) names what does it instead.
`)
	for _, topic := range Topics() {
		fmt.Fprintf(&b, "\n## %s\n\n| recipe | name | also found as |\n|---|---|---|\n", strings.ToUpper(topic[:1])+topic[1:])
		for _, r := range list {
			if r.Topic == topic {
				fmt.Fprintf(&b, "| [%s](%s.yml) | `%s` | %s |\n", r.Title, r.Name, r.Name, strings.Join(r.Words, ", "))
			}
		}
	}
	return b.String()
}

// sections are the keys of a recipe's file in their order.
var sections = []string{"version", "policy", "forms", "tables", "rules", "tests"}

// Join returns the rule file of recipes, without the tests whose names are in omit. The names of
// tests begin with the recipe's name if there are several recipes.
func Join(list []Recipe, omit ...string) string {
	parts := map[string]string{}
	for _, r := range list {
		for key, lines := range r.sections() {
			switch {
			case key == "rules" && len(list) > 1:
				lines = "  # " + r.Title + "\n" + lines
			case key == "tests":
				lines = tests(r.Name, lines, len(list) > 1, omit)
			case key == "version" || key == "policy" && strings.Contains(parts[key], lines):
				continue
			}
			parts[key] += lines
		}
	}
	var b strings.Builder
	b.WriteString("version: 1\n")
	for _, key := range sections[1:] {
		if parts[key] != "" {
			b.WriteString(key + ":\n" + parts[key])
		}
	}
	return b.String()
}

// sections returns the lines below each key of the file.
func (r Recipe) sections() map[string]string {
	out, key := map[string]string{}, ""
	for line := range strings.Lines(r.Rules) {
		if name, _, ok := strings.Cut(line, ":"); ok && slices.Contains(sections, name) {
			key = name
			continue
		}
		out[key] += line
	}
	return out
}

const testItem = "  - name: "

// tests returns the items of a list of tests without those in omit.
func tests(recipe, lines string, several bool, omit []string) string {
	var b strings.Builder
	for item := range strings.SplitSeq("\n"+lines, "\n"+testItem) {
		name, rest, ok := strings.Cut(item, "\n")
		if !ok {
			continue
		}
		if several {
			name = recipe + ", " + name
		}
		if !slices.Contains(omit, name) {
			b.WriteString(testItem + name + "\n" + strings.TrimSuffix(rest, "\n") + "\n")
		}
	}
	return b.String()
}

package start

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/docs/recipes"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/starter"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
)

// listRecipes is the name that prints the recipes.
const listRecipes = "list"

// RunRecipes writes the first files with the rules of recipes, or prints the names of all recipes.
func RunRecipes(ctx context.Context, o Options) error {
	all, err := recipes.All()
	if err != nil {
		return command.Failed(err)
	}
	if slices.Equal(o.Recipes, []string{listRecipes}) {
		return o.Env.Print(listOf(all))
	}
	chosen, err := choose(all, o.Recipes)
	if err != nil {
		return err
	}
	root, err := o.root()
	if err != nil {
		return err
	}
	if err := vacant(root); err != nil {
		return err
	}
	text, omitted, err := join(ctx, chosen)
	if err != nil {
		return command.Failed(err)
	}
	p, err := starter.FromRules(ctx, text, starter.Options{Action: o.Env.Repository, Enterprise: o.enterprise(ctx, root)})
	if err != nil {
		return command.Failed(err)
	}
	// Only the workflows of the repository matter here. Its other files may have mistakes.
	read, _, err := starter.Read(ctx, files.Folder{Dir: root}, starter.Limit{Folder: maxFolder, Labels: true, Names: true})
	if err != nil {
		return command.Failed(err)
	}
	repo := starter.Repository{Labels: []string{}, Runs: read.Runs}
	for _, name := range omitted {
		repo.Notes = append(repo.Notes, fmt.Sprintf("the test %q is left out: other recipes change its result", name))
	}
	for i, r := range chosen {
		p.Parts = slices.Insert(p.Parts, i, fmt.Sprintf("recipe %s: %s", r.Name, r.Title))
	}
	list, err := writeFirst(root, repo, p)
	if err != nil {
		return err
	}
	fmt.Fprint(o.Env.Stderr, reportOf(repo, p))
	return o.Env.Print(o.nextSteps(root, repo, p, list))
}

// recipeNames returns the values of --recipe.
func recipeNames() []string {
	all, err := recipes.All()
	if err != nil {
		return nil
	}
	names := []string{listRecipes}
	for _, r := range all {
		names = append(names, r.Name)
	}
	return names
}

// join returns the rule file of the recipes, and the tests that do not pass in it and are left
// out: each recipe expects the results of its own rules.
func join(ctx context.Context, list []recipes.Recipe) (text string, omitted []string, err error) {
	text = recipes.Join(list)
	if len(list) > 1 {
		if omitted, err = starter.Failing(ctx, text); err == nil {
			text = recipes.Join(list, omitted...)
		}
	}
	return text, omitted, err
}

// listOf lists the recipes by topic.
func listOf(all []recipes.Recipe) string {
	var b strings.Builder
	for i, topic := range recipes.Topics() {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(topic + "\n")
		for _, r := range all {
			if r.Topic == topic {
				fmt.Fprintf(&b, "  %-24s %s\n", r.Name, r.Title)
			}
		}
	}
	return b.String()
}

// choose returns the recipes with the names, each once.
func choose(all []recipes.Recipe, names []string) ([]recipes.Recipe, error) {
	if len(names) == 0 {
		return nil, command.Usagef("--recipe: want one or more names with commas; foreman init --recipe %s prints them", listRecipes)
	}
	var chosen []recipes.Recipe
	for _, name := range names {
		i := slices.IndexFunc(all, func(r recipes.Recipe) bool { return r.Name == name })
		if i < 0 {
			hint := ""
			if near := nearest(all, name); len(near) > 0 {
				hint = "; did you mean " + strings.Join(near, " or ") + "?"
			}
			return nil, command.Usagef("--recipe: unknown recipe %q%s; foreman init --recipe %s prints all names", name, hint, listRecipes)
		}
		if !slices.ContainsFunc(chosen, func(r recipes.Recipe) bool { return r.Name == name }) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// maxNear bounds the names in a hint.
const maxNear = 3

// nearest returns the recipes that were probably meant: the one of a similar name, and those with
// most words of the wish in their names, titles and words.
func nearest(all []recipes.Recipe, wish string) []string {
	var names []string
	hits := map[string]int{}
	words := strings.FieldsFunc(strings.ToLower(wish), func(r rune) bool { return strings.ContainsRune(" -_,/", r) })
	for _, r := range all {
		text := strings.ToLower(r.Name + " " + r.Title + " " + strings.Join(r.Words, " "))
		for _, w := range words {
			if len(w) > 2 && strings.Contains(text, w) {
				hits[r.Name]++
			}
		}
		names = append(names, r.Name)
	}
	similar := yamlfile.Suggest(wish, names)
	if similar != "" {
		hits[similar] += len(words) + 1
	}
	names = slices.DeleteFunc(names, func(n string) bool { return hits[n] == 0 })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(hits[b], hits[a]) })
	return names[:min(len(names), maxNear)]
}

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/docs/recipes"
)

// playgroundFiles are copied unchanged.
var playgroundFiles = []string{"index.html", "style.css", "page.js", "engine.js", "link.js", "worker.js"}

// buildPlayground writes the playground, and returns the compressed size of the engine.
func buildPlayground(root, out string) (int, error) {
	if err := copyPlayground(root, out); err != nil {
		return 0, err
	}
	return engine(root, out)
}

// copyPlayground writes all of the playground but the engine.
func copyPlayground(root, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, name := range playgroundFiles {
		if err := copyFile(filepath.Join(root, "site", "playground", name), filepath.Join(out, name)); err != nil {
			return err
		}
	}
	goroot, err := output(root, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"), filepath.Join(out, "wasm_exec.js")); err != nil {
		return err
	}
	list, err := examples(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "examples.json"), list, 0o644)
}

// engine compiles the engine to WebAssembly and writes it compressed. It returns the size in
// bytes.
func engine(root, out string) (int, error) {
	dir, err := os.MkdirTemp("", "foreman-site-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "engine.wasm")
	if _, err := output(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", plain, "./site/playground"); err != nil {
		return 0, err
	}
	data, err := os.ReadFile(plain)
	if err != nil {
		return 0, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return packed.Len(), os.WriteFile(filepath.Join(out, "engine.bin"), packed.Bytes(), 0o644)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// An example is an entry of the list of examples on the page.
type example struct {
	Title   string          `json:"title"`
	Rules   string          `json:"rules"`
	Event   string          `json:"event"`
	Payload string          `json:"payload"`
	Issue   json.RawMessage `json:"issue,omitempty"`
}

// examples returns the list of examples for the page: those of site/playground/examples.json with
// the content of the files that it names, and the recipes.
func examples(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, "site", "playground", "examples.json"))
	if err != nil {
		return nil, err
	}
	var list []example
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("site/playground/examples.json: %w", err)
	}
	for i := range list {
		for _, file := range []*string{&list[i].Rules, &list[i].Payload} {
			if *file == "" {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, *file))
			if err != nil {
				return nil, fmt.Errorf("site/playground/examples.json: %q: %w", list[i].Title, err)
			}
			*file = string(content)
		}
	}
	all, err := recipes.All()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		e, err := recipeExample(r)
		if err != nil {
			return nil, fmt.Errorf("make an example of the recipe %s: %w", r.Name, err)
		}
		list = append(list, e)
	}
	// The page reads this as JSON, so that < and > may stay as they are.
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(list)
	return out.Bytes(), err
}

// A recipeTest is what an example shows of a recipe's test.
type recipeTest struct {
	Event   string
	Label   string
	Issue   map[string]any
	Comment map[string]any
	Pull    map[string]any `yaml:"pr"`
}

// recipeExample returns an example of a recipe: its rules, and the event of its first test. Where
// the page has no fields for the event, the example has a payload. The looked-up values of the
// test are not part of an event.
func recipeExample(r recipes.Recipe) (example, error) {
	var file struct{ Tests []recipeTest }
	if err := yaml.Unmarshal([]byte(r.Rules), &file); err != nil {
		return example{}, err
	}
	t := file.Tests[0]
	e := example{Title: "Recipe: " + r.Title, Rules: r.Rules, Event: cmp.Or(t.Event, "issues.opened")}
	if name, _, _ := strings.Cut(e.Event, "."); name != "schedule" && (name != "issues" || t.Label != "") {
		payload, err := json.MarshalIndent(t.payload(), "", " ")
		e.Event, e.Payload = "", string(payload)
		return e, err
	}
	described := map[string]any{"title": "", "body": "", "labels": []string{}, "author": "octocat", "association": "NONE"}
	for key := range described {
		if value, ok := t.Issue[key]; ok {
			described[key] = value
		}
	}
	var err error
	e.Issue, err = json.Marshal(described)
	return e, err
}

// payload returns the payload of the test's event, as GitHub sends it.
func (t recipeTest) payload() map[string]any {
	user := func(fields map[string]any) map[string]any {
		u := map[string]any{"login": "octocat", "type": "User"}
		if login, ok := fields["author"]; ok {
			u["login"] = login
		}
		if kind, ok := fields["author_type"]; ok {
			u["type"] = kind
		}
		return u
	}
	association := func(fields map[string]any) any { return cmp.Or(fields["association"], any("NONE")) }
	subject := map[string]any{
		"number": 1, "title": "", "body": "", "state": "open", "user": user(t.Issue),
		"author_association": association(t.Issue), "created_at": "2026-01-01T12:00:00Z",
	}
	list := func(value any, key string) []map[string]any {
		out := []map[string]any{}
		items, _ := value.([]any)
		for _, item := range items {
			out = append(out, map[string]any{key: item})
		}
		return out
	}
	for key, value := range t.Issue {
		switch key {
		case "author", "author_type", "association", "pull_request":
		case "labels":
			subject[key] = list(value, "name")
		case "assignees":
			subject[key] = list(value, "login")
		case "milestone":
			subject[key] = map[string]any{"title": value}
		default:
			subject[key] = value
		}
	}
	name, action, _ := strings.Cut(t.Event, ".")
	payload := map[string]any{
		"action": action, "sender": user(t.Issue),
		"repository": map[string]any{"name": "hello", "full_name": "octo-org/hello", "owner": map[string]any{"login": "octo-org"}},
	}
	if t.Label != "" {
		payload["label"] = map[string]any{"name": t.Label}
	}
	switch name {
	case "pull_request":
		payload["number"], payload[name] = subject["number"], subject
		subject["head"] = map[string]any{"ref": "change"}
		subject["base"] = map[string]any{"ref": cmp.Or(t.Pull["base"], any("main"))}
		for _, key := range []string{"draft", "merged", "additions", "deletions", "changed_files", "commits"} {
			if value, ok := t.Pull[key]; ok {
				subject[key] = value
			}
		}
		return payload
	case "issue_comment":
		payload["comment"] = map[string]any{"body": t.Comment["body"], "user": user(t.Comment), "author_association": association(t.Comment)}
		payload["sender"] = user(t.Comment)
		if t.Issue["pull_request"] == true {
			subject["pull_request"] = map[string]any{}
		}
	}
	payload["issue"] = subject
	return payload
}

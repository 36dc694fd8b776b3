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
	"github.com/org/foreman-action/internal/cli/draft"
)

// playgroundFiles are copied unchanged.
var playgroundFiles = []string{"index.html", "style.css", "page.js", "editor.js", "engine.js", "link.js", "worker.js"}

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
	Title   string         `json:"title"`
	Rules   string         `json:"rules"`
	Event   string         `json:"event"`
	Payload string         `json:"payload"`
	Case    string         `json:"case,omitempty"`
	Values  map[string]any `json:"values,omitempty"`
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
	page, err := os.ReadFile(filepath.Join(root, "site", "playground", "index.html"))
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		e, err := recipeExample(r, string(page))
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

// recipeExample returns an example of a recipe: its rules, and the event of its first test with the
// results of its look-ups. The page has fields for some values; the others are YAML, as in the test.
func recipeExample(r recipes.Recipe, page string) (example, error) {
	var file struct{ Tests []map[string]any }
	if err := yaml.Unmarshal([]byte(r.Rules), &file); err != nil {
		return example{}, err
	}
	t := file.Tests[0]
	event, _ := t["event"].(string)
	e := example{Title: "Recipe: " + r.Title, Rules: r.Rules, Event: cmp.Or(event, "issues.opened"), Values: map[string]any{}}
	for _, key := range []string{"name", "event", "expect"} {
		delete(t, key)
	}
	for _, v := range draft.Values() {
		section, key, _ := strings.Cut(v.Name, ".")
		values, _ := t[section].(map[string]any)
		value, ok := values[key]
		// The page sets issue.pull_request by its choice of the source.
		field := v.Name == "issue.pull_request" || strings.Contains(page, fmt.Sprintf("data-value=%q", v.Name))
		if !ok || !field {
			continue
		}
		e.Values[v.Name] = value
		if delete(values, key); len(values) == 0 {
			delete(t, section)
		}
	}
	if len(t) == 0 {
		return e, nil
	}
	rest, err := yaml.Marshal(t)
	e.Case = string(rest)
	return e, err
}

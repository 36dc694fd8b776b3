package githubtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// The versions of the REST API that the fake has. A request without a version gets the older one.
const (
	oldVersion = "2022-11-28"
	newVersion = "2026-03-10"
)

// version returns the version of the REST API that a request names.
func version(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Github-Api-Version"), oldVersion)
}

// inVersion returns an answer without the fields that the request's version no longer has.
func inVersion(r *http.Request, a answer) answer {
	if version(r) != newVersion || r.URL.Path == graphQLPath || a.foreign || len(a.raw) == 0 {
		return a
	}
	body, err := decodeJSON(a.raw)
	if err != nil {
		panic(fmt.Sprintf("githubtest: decode an answer: %v", err)) // impossible: the fake encoded it
	}
	_ = walk(body, func(o object) error {
		has := func(key string) bool { return o[key] != nil }
		if has("assignees") {
			delete(o, "assignee")
		}
		if has("head") && has("base") {
			delete(o, "merge_commit_sha")
		}
		if pull, ok := o["pull_request"].(object); ok && pull["merged_at"] == nil {
			delete(pull, "merged_at") // the version's description does not permit null
		}
		if has("full_name") {
			delete(o, "has_downloads")
		}
		if has("resources") {
			delete(o, "rate")
		}
		return nil
	})
	changed := reply(a.status, body)
	a.raw = changed.raw
	return a
}

// describe returns GitHub's description of a version of the REST API. The description lists the changes of a
// newer version beside the parts that change.
func describe(version string) ([]byte, error) {
	if version == oldVersion {
		return description, nil
	}
	doc, err := decodeJSON(description)
	if err != nil {
		return nil, err
	}
	if err := walk(doc, func(o object) error { return change(o, version) }); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// change applies the changes of a version to a part of the description.
func change(part object, version string) error {
	list, _ := part["x-github-breaking-changes"].([]any)
	delete(part, "x-github-breaking-changes")
	for _, c := range list {
		c, _ := c.(object)
		if c["version"] != version {
			continue
		}
		before, err := json.Marshal(part)
		if err != nil {
			return err
		}
		patch, err := json.Marshal(c["patch"])
		if err != nil {
			return err
		}
		var after []byte
		if bytes.HasPrefix(patch, []byte("[")) {
			var p jsonpatch.Patch
			if p, err = jsonpatch.DecodePatch(patch); err == nil {
				after, err = p.Apply(before)
			}
		} else {
			after, err = jsonpatch.MergePatch(before, patch)
		}
		if err != nil {
			return fmt.Errorf("change %v: %w", c["changeset"], err)
		}
		clear(part)
		if err := json.Unmarshal(after, &part); err != nil {
			return err
		}
	}
	return nil
}

func decodeJSON(text []byte) (any, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // the ids of GitHub are longer than the digits of a float
	err := d.Decode(&v)
	return v, err
}

// walk calls do for each object in a JSON value.
func walk(v any, do func(object) error) error {
	switch v := v.(type) {
	case object:
		if err := do(v); err != nil {
			return err
		}
		for _, each := range v {
			if err := walk(each, do); err != nil {
				return err
			}
		}
	case []any:
		for _, each := range v {
			if err := walk(each, do); err != nil {
				return err
			}
		}
	}
	return nil
}

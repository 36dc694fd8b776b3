package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

var ref = triage.Ref{Owner: "octo", Repo: "hello", Number: 7}

// newKey generates one key for all tests, because generating a key is slow.
var newKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// pemKey returns the private key of an App, and the public one for the server.
func pemKey(t *testing.T) ([]byte, *rsa.PublicKey) {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), &key.PublicKey
}

func static(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// TestNewRefuses checks that the error of New and of AppToken names the invalid field, and no secret.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	key, _ := pemKey(t)
	good := github.App{ID: "1", Key: key, Repo: "octo/hello"}
	tests := []struct {
		want string // empty: there is no error
		make func() error
	}{
		{"", func() error { _, err := github.New(github.Options{Token: static("x")}); return err }},
		{"Options.Token is nil", func() error { _, err := github.New(github.Options{}); return err }},
		{"Options.BaseURL", func() error {
			_, err := github.New(github.Options{Token: static("x"), BaseURL: "https://me:secret@example.com"})
			return err
		}},
		{"", app(good, func(*github.App) {})},
		{"", app(good, func(a *github.App) { a.Repo, a.Installation = "", 7 })},
		{"App.ID", app(good, func(a *github.App) { a.ID = "" })},
		{"App.Key", app(good, func(a *github.App) { a.Key = nil })},
		{"App.Key", app(good, func(a *github.App) { a.Key = []byte("secret") })},
		{"App.Repo and App.Installation", app(good, func(a *github.App) { a.Repo = "" })},
		{"App.Repo", app(good, func(a *github.App) { a.Repo = "hello" })},
		{"App.Repo", app(good, func(a *github.App) { a.Repo, a.Installation = "../x", 7 })},
		{"App.Installation", app(good, func(a *github.App) { a.Installation = -1 })},
		{"App.BaseURL", app(good, func(a *github.App) { a.BaseURL = "example.com" })},
	}
	for i, tt := range tests {
		err := tt.make()
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("case %d: got %v, want an error that names %q", i, err, tt.want)
		}
	}
}

func app(a github.App, change func(*github.App)) func() error {
	return func() error {
		change(&a)
		_, err := github.AppToken(a)
		return err
	}
}

// TestToken checks that each request asks for a token, and that the error of the function ends it.
func TestToken(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Config{Token: "second"})
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	errEmpty := errors.New("the vault is sealed")
	answers := []struct {
		token string
		err   error
	}{{"first", nil}, {"second", nil}, {"second", nil}, {"", errEmpty}}
	h, err := github.New(github.Options{BaseURL: s.URL, Token: func(context.Context) (string, error) {
		a := answers[0]
		answers = answers[1:]
		return a.token, a.err
	}})
	if err != nil {
		t.Fatal(err)
	}
	host := h.Host("me")
	if host.Login != "me" || host.Search == nil || host.Repository == nil {
		t.Errorf("got %+v", host)
	}
	for range 2 { // the first token is refused, and the request repeated with the second
		if _, err := host.Issues.Issue(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := host.Issues.Write(t.Context(), ref, effect.Lock{}); !errors.Is(err, errEmpty) || errors.Is(err, triage.ErrUncertain) {
		t.Errorf("got %v, want the error of the function", err)
	}
	const path = "GET /repos/octo/hello/issues/7"
	if diff := cmp.Diff([]string{path + " 401", path + " 200", path + " 200"}, s.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestAppToken checks that the token of an App is kept, and replaced after GitHub refuses it.
func TestAppToken(t *testing.T) {
	t.Parallel()
	const (
		find  = "GET /repos/octo/hello/installation 200"
		mint  = "POST /app/installations/1/access_tokens 201"
		read  = "GET /repos/octo/hello/issues/7 200"
		stale = "GET /repos/octo/hello/issues/7 401"
	)
	key, public := pemKey(t)
	for _, tt := range []struct {
		name string
		app  github.App
		want []string
	}{
		{"repository", github.App{Repo: "octo/hello"}, []string{find, mint, read, read, stale, mint, read}},
		{"installation", github.App{Installation: 1}, []string{mint, read, read, stale, mint, read}},
		{"both", github.App{Repo: "octo/hello", Installation: 1}, []string{mint, read, read, stale, mint, read}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := githubtest.New(t, githubtest.Config{App: &githubtest.App{ID: 1, Slug: "foreman", Key: public, Owners: []string{"octo"}}})
			s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
			tt.app.ID, tt.app.Key, tt.app.BaseURL = "1", key, s.URL
			token, err := github.AppToken(tt.app)
			if err != nil {
				t.Fatal(err)
			}
			h, err := github.New(github.Options{Token: token, BaseURL: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				if i == 2 {
					s.RevokeTokens()
				}
				if _, err := h.Host("").Issues.Issue(t.Context(), ref); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, s.Log()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFiles checks that a configuration is loaded from a repository, with the file that it extends.
func TestFiles(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Config{})
	s.Repo("octo/hello").
		AddFile(config.DefaultPath, "version: 1\nextends: octo/.github:foreman.yml@v1\ninclude: [rules/*.yml]\n").
		AddFile("rules/a.yml", "version: 1\nrules:\n  - {id: a, then: [lock]}\n").AddFile("rules/readme.md", "x")
	s.Repo("octo/.github").AddFileAt("refs/tags/v1", "foreman.yml", "version: 1\nrules:\n  - {id: b, then: [lock]}\n")
	h, err := github.New(github.Options{Token: static("x"), BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	files := h.Files(triage.Repo{Owner: "octo", Name: "hello"}, "")
	got, err := files.Glob(t.Context(), "rules/*.yml")
	if diff := cmp.Diff([]string{"rules/a.yml"}, got); err != nil || diff != "" {
		t.Errorf("error %v, files (-want +got):\n%s", err, diff)
	}
	if _, err := files.Read(t.Context(), "absent.yml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if _, err := files.Glob(t.Context(), "*/a.yml"); err == nil {
		t.Error("a pattern with a wildcard in a folder's name: got no error")
	}
	c, err := config.Load(t.Context(), files, config.Spec{Path: config.DefaultPath, Remote: h.Extended})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{config.DefaultPath, "rules/a.yml", "octo/.github:foreman.yml@v1"}, c.Files); diff != "" {
		t.Errorf("files of the configuration (-want +got):\n%s", diff)
	}
	if _, err := h.Extended(t.Context(), config.RemoteFile{Owner: "octo", Repo: ".github", Path: "foreman.yml", Ref: "v2"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent tag: got %v, want fs.ErrNotExist", err)
	}
	data, err := h.Host("").File(t.Context(), triage.Repo{Owner: "octo", Name: "hello"}, "rules/readme.md")
	if err != nil || string(data) != "x" {
		t.Errorf("a file of the default branch for a Runner: got %q, %v", data, err)
	}
}

package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// startApp starts a fake GitHub for the script. It accepts only tokens of an App.
func startApp(ts *testscript.TestScript) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	ts.Check(err)
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	ts.Check(os.WriteFile(ts.MkAbs("app.pem"), text, 0o600))
	owner, _, _ := strings.Cut(scriptRepo, "/")
	gh, err := githubtest.Start(githubtest.Config{App: &githubtest.App{ID: 77, Slug: "triage", Key: &key.PublicKey, Owners: []string{owner}}})
	ts.Check(err)
	ts.Defer(func() {
		gh.Close()
		if p := gh.Problems(); len(p) > 0 {
			ts.Fatalf("%s", strings.Join(p, "\n"))
		}
	})
	gh.Repo(scriptRepo)
	rigOf(ts).app = gh
	ts.Setenv("GITHUB_API_URL", gh.URL)
}

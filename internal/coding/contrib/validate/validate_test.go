package validate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
)

func TestSystemPackages(t *testing.T) {
	t.Parallel()
	tests := []struct{ output, want string }{
		{"fatal error: X11/Xlib.h: No such file or directory", "libx11-dev"},
		{"c/_cffi_backend.c:15:10: fatal error: ffi.h: No such file or directory", "libffi-dev"},
		{"a.c:1:10: fatal error: 'openssl/ssl.h' file not found", "libssl-dev"},
		{"zlib.h: No such file or directory\nsqlite3.h: No such file or directory", "zlib1g-dev libsqlite3-dev"},
		{"fatal error: libpq-fe.h: No such file", "libpq-dev"},
		{"fatal error: alsa/asoundlib.h: No such file", "libasound2-dev"},
		{"fatal error: GL/gl.h: No such file", "libgl1-mesa-dev"},
		{"fatal error: Python.h: No such file", "python3-dev"},
		{"fatal error: curl/curl.h: No such file", "libcurl4-openssl-dev"},
		{"fatal error: gtk/gtk.h: No such file", "libgtk-3-dev"},
		{"Package 'openssl', required by 'virtual:world', not found", "libssl-dev"},
		{"No package 'x11' found", "libx11-dev"},
		{"/usr/bin/ld: cannot find -lX11: No such file or directory", "libx11-dev"},
		{"/usr/bin/ld: cannot find -lz: No such file", "zlib1g-dev"},
		{"sh: 1: make: not found", "make"},
		{"make: gcc: No such file or directory", "gcc"},
		{"bash: line 1: g++: command not found", "g++"},
		{`exec: "git": executable file not found in $PATH`, "git"},
		{"/bin/sh: 1: cmake: not found\nsh: 1: pkg-config: not found", "cmake pkg-config"},
		{"fatal error: myproject.h: No such file or directory", ""},
		{"the zlib.h header was not touched; make: *** [test] Error 1", ""},
		{"remake: not found", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(systemPackages(tt.output), " "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.output, got, tt.want)
		}
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"sh: 1: ruff: not found":                                "ruff",
		"x\n/bin/sh: 2: golangci-lint: not found\n":             "golangci-lint",
		"bash: line 3: poetry: command not found":               "poetry",
		"make: golangci-lint: No such file or directory\nmake:": "golangci-lint",
		"module not found":                                      "",
		"sh: 1: $(rm -rf /): not found":                         "",
	} {
		if got := missingProgram(output); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// TestLog checks that the log contains no secret, even if the output is cut within one.
func TestLog(t *testing.T) {
	t.Parallel()
	const form, named = "ghp_aaaaaaaaaabbbbbbbbbbccccccccccdddddd", "correct horse"
	l := log{redactor: newRedactor([]string{"PATH=/bin", "DEPLOY_TOKEN=" + named, "HOME=/home/a"})}
	const limit = 2 * maxSecret
	output := beginning{limit: limit}
	if _, err := output.Write([]byte("a " + form + " b " + named + " c\n")); err != nil {
		t.Fatal(err)
	}
	l.output(&output)
	long := beginning{limit: limit}
	for _, part := range []string{strings.Repeat("x ", limit/2-5), form, "more"} {
		if n, err := long.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.output(&long)
	text := l.text.String()
	if strings.Contains(text, "ghp_") || strings.Contains(text, "horse") || !strings.HasPrefix(text, "a *** b *** c\n") ||
		!strings.HasSuffix(text, "[the rest of the output is left out]\n") {
		t.Errorf("got %d bytes: %.100q … %q", len(text), text, text[len(text)-100:])
	}
}

// TestSave saves two documents, and checks which one is stored.
func TestSave(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		old, oldDigest       string
		status               string
		partly, wantReplaced bool
	}{
		{"none before", "", "", contract.Blocked, true, true},
		{"detection after passed", contract.Passed, "d", contract.Blocked, true, false},
		{"docker away after passed", contract.Passed, "d", contract.Blocked, false, false},
		{"detection after a stale passed", contract.Passed, "other", contract.Blocked, true, true},
		{"failed after passed", contract.Passed, "d", contract.Failed, false, true},
		{"one command failed after passed", contract.Passed, "d", contract.Failed, true, true},
		{"detection after failed", contract.Failed, "d", contract.Blocked, true, false},
		{"docker away after failed", contract.Failed, "d", contract.Blocked, false, true},
		{"blocked after blocked", contract.Blocked, "d", contract.Blocked, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := session.Session{Controller: controller.Controller{Root: t.TempDir(), KeyFile: filepath.Join(t.TempDir(), "key")}}
			path := controller.Paths("a").Validation
			if tt.old != "" {
				if err := s.Controller.WriteSealed(path, contract.Validation{Status: tt.old, PatchDigest: tt.oldDigest, Reason: "old"}); err != nil {
					t.Fatal(err)
				}
			}
			d := document{Validation: contract.Validation{Status: tt.status, PatchDigest: "d", Reason: "new"}, partly: tt.partly}
			if err := d.save(s, path); err != nil {
				t.Fatal(err)
			}
			var stored contract.Validation
			if _, err := s.Controller.Read(path, &stored); err != nil || (stored.Reason == "new") != tt.wantReplaced {
				t.Errorf("stored the %s document: %v", stored.Reason, err)
			}
		})
	}
}

// TestDocs parses the configuration in docs/contribflow.md.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/contribflow.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```jsonc\n{\"sandbox\"")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/contribflow.md has no configuration of the sandbox")
	}
	c := controller.Controller{Root: t.TempDir()}
	if err := c.WriteFile(controller.ConfigPath, []byte(`{"sandbox"`+block)); err != nil {
		t.Fatal(err)
	}
	config, found, err := c.Config()
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if err := checkImages(config.Sandbox.Images); err != nil || config.Sandbox.CommandTimeoutSeconds != 900 {
		t.Error(config.Sandbox, err)
	}
}

func TestHintsAreUnique(t *testing.T) {
	t.Parallel()
	for i, h := range hints {
		if slices.ContainsFunc(hints[:i], func(o hint) bool { return o.output.String() == h.output.String() }) {
			t.Errorf("the hint %s is there twice", h.output)
		}
	}
}

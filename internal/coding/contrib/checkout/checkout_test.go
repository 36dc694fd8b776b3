package checkout_test

import (
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/checkout"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
)

// A server is a fake GitHub with a private repository, private/r, and a public one, o/r.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	auth []string // Authorization header of each request
}

const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

func newServer(t *testing.T) *server {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	exe, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(exe)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("there is no git-http-backend")
	}
	root := t.TempDir()
	for _, name := range []string{"o", "private"} {
		dir := filepath.Join(root, name, "r.git")
		for _, args := range [][]string{
			{"init", "--quiet", "--bare", "--initial-branch=main", dir},
			{"--git-dir=" + dir, "config", "http.uploadpack", "true"},
			{"--git-dir=" + dir, "update-ref", "refs/heads/main", commitTree(t, git, dir)},
		} {
			run(t, git, args...)
		}
	}
	s := &server{}
	handler := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		s.mu.Lock()
		s.auth = append(s.auth, auth)
		s.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, "/private/") && auth == "":
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/private/") && auth != "Basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token)):
			w.WriteHeader(http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/down/"):
			w.WriteHeader(http.StatusBadGateway)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// headers returns the Authorization headers of the requests since its last call.
func (s *server) headers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.auth
	s.auth = nil
	return list
}

func run(t *testing.T, git string, args ...string) string {
	t.Helper()
	cmd := exec.Command(git, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commitTree makes a commit of an empty tree.
func commitTree(t *testing.T, git, dir string) string {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		run(t, git, "init", "--quiet", "--bare", "--initial-branch=main", dir)
	}
	tree := run(t, git, "--git-dir="+dir, "hash-object", "-t", "tree", "-w", os.DevNull)
	return run(t, git, "--git-dir="+dir, "commit-tree", "-m", "first", tree)
}

func newSession(t *testing.T, server string, environ ...string) session.Session {
	t.Helper()
	return session.Session{
		Controller: controller.Controller{Root: t.TempDir()}, Config: controller.Default(), Now: time.Now, Report: func(session.Progress) {},
		Environ: append([]string{"PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "GITHUB_SERVER_URL=" + server}, environ...),
	}
}

// TestToken clones over HTTP: a public repository without the token, and a private one with it. No
// file on the disk contains the token.
func TestToken(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	for _, name := range []string{"o", "private"} {
		srv.headers() // drops the headers of the previous case
		s := newSession(t, srv.URL, "GH_ENTERPRISE_TOKEN="+token)
		w, err := checkout.Run(t.Context(), s, checkout.Options{Issue: name + "/r#1"})
		if err != nil || !w.Created || w.CloneURL != srv.URL+"/"+name+"/r.git" {
			t.Fatalf("%s: got %+v, %v", name, w, err)
		}
		if sent := slices.ContainsFunc(srv.headers(), func(a string) bool { return a != "" }); sent != (name == "private") {
			t.Errorf("%s: the token was sent: %v", name, sent)
		}
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
		if err := filepath.WalkDir(s.Controller.Root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), token) || strings.Contains(string(data), basic) {
				t.Errorf("%s has the token", path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestRefused checks repositories that cannot be cloned. No files of them remain, and the active
// issue does not change.
func TestRefused(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "http://" + closed.Addr().String()
	closed.Close()
	tests := []struct {
		name, server, issue string
		environ             []string
		change              func(*session.Session)
		code                contract.Code
		want                string
	}{
		{"private", srv.URL, "private/r#1", nil, nil, contract.CodeAuth, "there is no token"},
		{"wrong token", srv.URL, "private/r#1", []string{"GH_ENTERPRISE_TOKEN=wrong-token"}, nil, contract.CodeIssueNotFound, "the token cannot read it"},
		{"missing", srv.URL, "o/none#1", []string{"GITHUB_ENTERPRISE_TOKEN=" + token}, nil, contract.CodeIssueNotFound, "it does not exist"},
		{"down", srv.URL, "down/r#1", nil, nil, contract.CodeUnreachable, "502"},
		{"unreachable", nowhere, "o/r#1", nil, nil, contract.CodeUnreachable, "o/r"},
		{"offline", srv.URL, "o/r#1", nil, func(s *session.Session) { s.Offline = true }, contract.CodeUnreachable, "--offline"},
		{"no issue", srv.URL, "", nil, nil, contract.CodeNoIssue, "no issue is active"},
		{"no such form", srv.URL, "../x#1", nil, nil, contract.CodeUsage, "want OWNER/REPO#NUMBER"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, tt.server, tt.environ...)
			if tt.change != nil {
				tt.change(&s)
			}
			_, err := checkout.Run(t.Context(), s, checkout.Options{Issue: tt.issue})
			p, ok := errors.AsType[*contract.Problem](err)
			if !ok || p.Code != tt.code || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "wrong-token") {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			if state, err := s.Controller.State(); err != nil || state.ActiveIssue != nil {
				t.Errorf("got %+v, %v", state, err)
			}
			if left, err := filepath.Glob(filepath.Join(s.Controller.Root, ".contribflow/workspaces/*")); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}

// TestNoGit runs checkout without git on the search path.
func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := checkout.Run(t.Context(), newSession(t, "https://github.com"), checkout.Options{Issue: "o/r#1"})
	if p, ok := errors.AsType[*contract.Problem](err); !ok || p.Code != contract.CodeGitMissing {
		t.Errorf("got %v", err)
	}
}

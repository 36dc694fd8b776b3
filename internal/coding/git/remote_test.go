package git_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/git"
)

func TestRemoteVars(t *testing.T) {
	t.Parallel()
	environ := []string{
		"HTTPS_PROXY=http://proxy", "GIT_SSH=/evil", "SSH_AUTH_SOCK=x", "GIT_CONFIG_COUNT=4",
		"GIT_CONFIG_KEY_0=core.sshCommand", "GIT_CONFIG_VALUE_0=/evil", "GIT_CONFIG_KEY_1=url.file:///fix/.insteadOf", "GIT_CONFIG_VALUE_1=https://github.com/",
		"GIT_CONFIG_KEY_2=URL.ext::evil.insteadof", "GIT_CONFIG_VALUE_2=https://github.com/", "GIT_CONFIG_KEY_3=url.x.pushInsteadOf", "GIT_CONFIG_VALUE_3=x",
	}
	tests := []struct {
		name   string
		remote git.Remote
		want   []string
	}{
		{"anonymous", git.Remote{Server: "https://github.com", Environ: environ}, []string{
			"GIT_ALLOW_PROTOCOL=https", "GIT_CONFIG_COUNT=2",
			"GIT_CONFIG_KEY_0=http.lowSpeedLimit", "GIT_CONFIG_VALUE_0=1", "GIT_CONFIG_KEY_1=http.lowSpeedTime", "GIT_CONFIG_VALUE_1=60",
			"HTTPS_PROXY=http://proxy",
		}},
		{"a token", git.Remote{Server: "https://github.com", Token: "t"}, []string{
			"GIT_ALLOW_PROTOCOL=https", "GIT_CONFIG_COUNT=4",
			"GIT_CONFIG_KEY_0=http.lowSpeedLimit", "GIT_CONFIG_VALUE_0=1", "GIT_CONFIG_KEY_1=http.lowSpeedTime", "GIT_CONFIG_VALUE_1=60",
			"GIT_CONFIG_KEY_2=http.https://github.com/.extraHeader", "GIT_CONFIG_VALUE_2=Authorization: Basic eC1hY2Nlc3MtdG9rZW46dA==",
			"GIT_CONFIG_KEY_3=http.followRedirects", "GIT_CONFIG_VALUE_3=false",
		}},
		{"rewrites", git.Remote{Server: "https://github.com", Environ: environ[1:], Rewrites: true}, []string{
			"GIT_ALLOW_PROTOCOL=https:file", "GIT_CONFIG_COUNT=4",
			"GIT_CONFIG_KEY_0=http.lowSpeedLimit", "GIT_CONFIG_VALUE_0=1", "GIT_CONFIG_KEY_1=http.lowSpeedTime", "GIT_CONFIG_VALUE_1=60",
			"GIT_CONFIG_KEY_2=url.file:///fix/.insteadOf", "GIT_CONFIG_VALUE_2=https://github.com/",
			"GIT_CONFIG_KEY_3=URL.ext::evil.insteadof", "GIT_CONFIG_VALUE_3=https://github.com/", // git refuses ext:
		}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.remote.Vars()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := (git.Remote{}).Secrets(); got != nil {
		t.Errorf("got the secrets %q without a token", got)
	}
}

// TestRemoteToken checks that git sends the token to its server, but not to a server to which it
// redirects.
func TestRemoteToken(t *testing.T) {
	t.Parallel()
	var asked, leaked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Add(1)
		}
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==" {
			asked.Add(1)
		}
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	}))
	defer server.Close()
	r := newRepo(t)
	remote := git.Remote{Server: server.URL, Token: "hunter2"}
	r.Vars = append(r.Vars, remote.Vars()...)
	_, err := r.Run(t.Context(), "ls-remote", server.URL+"/o/r.git")
	if err == nil || asked.Load() == 0 || leaked.Load() > 0 {
		t.Errorf("got %v; %d requests with the token to its server, %d to another", err, asked.Load(), leaked.Load())
	}
}

// TestProtocols checks that git refuses every protocol but the server's, also through an insteadOf
// alias.
func TestProtocols(t *testing.T) {
	t.Parallel()
	program, marker := trap(t)
	r := newRepo(t)
	environ := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.ext::" + program + ".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/"}
	r.Vars = append(r.Vars, git.Remote{Server: "https://github.com", Environ: environ, Rewrites: true}.Vars()...)
	for _, url := range []string{"https://github.com/o/r.git", "file://" + r.Dir, r.Dir, "ext::" + program, "git@127.0.0.1:o/r.git", "ssh://-oProxyCommand=" + program + "/x"} {
		if out, err := r.Run(t.Context(), "ls-remote", "--", url); err == nil {
			t.Errorf("%s: got %q", url, out)
		}
	}
	sprung(t, marker)
}

func TestStream(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var out, stderr strings.Builder
	err := r.Stream(t.Context(), git.Streams{In: strings.NewReader("content\n"), Out: &out, Err: &stderr}, "hash-object", "--stdin")
	if got := strings.TrimSpace(out.String()); err != nil || got != "d95f3ad14dee633a758d2e331151e950dd13e4ed" {
		t.Errorf("got %q, %v", got, err)
	}
	err = r.Stream(t.Context(), git.Streams{Err: &stderr}, "rev-parse", "--verify", "none")
	if err == nil || !strings.Contains(err.Error(), "Needed a single revision") || !strings.Contains(stderr.String(), "Needed a single revision") {
		t.Errorf("got %v, and %q", err, stderr.String())
	}
}

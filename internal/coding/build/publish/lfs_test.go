//go:build unix

package publish_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/publish"
	"github.com/org/foreman-action/triage"
)

// An lfsServer is the LFS server of a repository.
type lfsServer struct {
	mu     sync.Mutex
	asked  []lfsBatch
	stored map[string]bool
	answer http.HandlerFunc // instead of the usual answer; nil: none
}

// An lfsBatch is a request to the server.
type lfsBatch struct {
	Path      string
	Accept    string
	Operation string   `json:"operation"`
	Transfers []string `json:"transfers"`
	Hash      string   `json:"hash_algo"`
	Objects   []struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"objects"`
}

func (l *lfsServer) batches() []lfsBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

// set sets the answer of the server.
func (l *lfsServer) set(answer http.HandlerFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = answer
}

func (l *lfsServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if path.Base(r.URL.Path) != "batch" {
		http.NotFound(rw, r) // Git LFS asks about locks
		return
	}
	b := lfsBatch{Path: r.URL.Path, Accept: r.Header.Get("Accept") + " " + r.Header.Get("Content-Type")}
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	l.asked = append(l.asked, b)
	if l.answer != nil {
		l.answer(rw, r)
		return
	}
	objects := []map[string]any{}
	for _, o := range b.Objects {
		entry := map[string]any{"oid": o.OID, "size": o.Size, "authenticated": true}
		switch href := map[string]any{"href": "http://" + r.Host + "/objects/" + o.OID}; {
		case b.Operation == "upload" && !l.stored[o.OID]:
			entry["actions"] = map[string]any{"upload": href}
		case b.Operation == "download" && l.stored[o.OID]:
			entry["actions"] = map[string]any{"download": href}
		case b.Operation == "download":
			entry["error"] = map[string]any{"code": 404, "message": "Object does not exist"}
		}
		objects = append(objects, entry)
	}
	rw.Header().Set("Content-Type", "application/vnd.git-lfs+json")
	if err := json.NewEncoder(rw).Encode(map[string]any{"transfer": "basic", "objects": objects, "hash_algo": "sha256"}); err != nil {
		panic(err)
	}
}

// upload stores an object.
func (l *lfsServer) upload(rw http.ResponseWriter, r *http.Request) {
	sum := sha256.New()
	if _, err := io.Copy(sum, r.Body); err != nil || hex.EncodeToString(sum.Sum(nil)) != path.Base(r.URL.Path) {
		http.Error(rw, "the content has another hash", http.StatusBadRequest)
		return
	}
	l.store(path.Base(r.URL.Path))
}

func (l *lfsServer) store(oid string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stored == nil {
		l.stored = map[string]bool{}
	}
	l.stored[oid] = true
}

// oid returns the name of the object of the nth file that [addPointers] adds.
func oid(n int) string { return fmt.Sprintf("%064x", n) }

// addPointers is a script that commits n pointers.
func addPointers(n int) string {
	return fmt.Sprintf(`for i in $(seq %d); do printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%%064x\nsize 5\n' $i >$i.bin; done; git add . && git commit -qm pointers`, n)
}

// TestLFS publishes a change with pointers before and after their objects are on the server.
func TestLFS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.options.Issue = &triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	const count = 201
	// A pointer that a commit adds and a later one removes is pushed, too.
	w.forge(addPointers(count) + " && git rm -q 1.bin && git commit -qm y")
	for n := 2; n <= count; n++ {
		w.lfs.store(oid(n))
	}
	r := w.publish(publish.Incomplete, "lfs")
	if want := "the change has pointers of Git LFS whose objects the server does not have: upload them in the checkout of the run, then publish again: git lfs push --object-id " + w.options.Server + "/octo/hello.git " + oid(1); r.Errors[0].Message != want {
		t.Errorf("got %q, want %q", r.Errors[0].Message, want)
	}
	if comments := w.gh.Issue("octo/hello", 7).Comments; len(comments) != 1 || !strings.Contains(comments[0].Body, "the server does not have") {
		t.Errorf("got the comments %+v", comments)
	}
	if w.pushed() != "" || len(w.pulls()) != 0 {
		t.Error("it was published")
	}
	asked := w.lfs.batches()
	if len(asked) != 3 {
		t.Fatalf("got %d requests, want 3", len(asked))
	}
	for i, b := range asked {
		const media = "application/vnd.git-lfs+json"
		if b.Path != "/octo/hello.git/info/lfs/objects/batch" || b.Operation != "download" || b.Hash != "sha256" || b.Accept != media+" "+media ||
			len(b.Objects) != []int{100, 100, 1}[i] || b.Objects[0].OID != oid(1+i*100) || b.Objects[0].Size != 5 {
			t.Errorf("got the request %+v", b)
		}
	}
	for address, want := range map[string]string{ // people push by SSH
		"git@127.0.0.1:Octo/hello.git":              "origin",
		"ssh://git@127.0.0.1:22/octo/hello":         "origin",
		"https://x:y@127.0.0.1/octo/hello.git":      "origin",
		"git@127.0.0.1:fork/hello.git":              w.options.Server + "/octo/hello.git",
		"git@127.0.0.1:big-octo/hello.git":          w.options.Server + "/octo/hello.git",
		"https://mirror.example.org/octo/hello.git": w.options.Server + "/octo/hello.git",
		"octo/hello": w.options.Server + "/octo/hello.git",
	} {
		w.sh("git config remote.origin.url " + address)
		if r := w.publish(publish.Incomplete, "lfs"); !strings.HasSuffix(r.Errors[0].Message, ": git lfs push --object-id "+want+" "+oid(1)) {
			t.Errorf("%s: got %q, want %s", address, r.Errors[0].Message, want)
		}
	}
	w.lfs.store(oid(1))
	w.publish(publish.Published)
}

// TestLFSProgram lets Git LFS make the pointers, and runs the command that the error contains.
func TestLFSProgram(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is missing")
	}
	w := newWorld(t, "")
	w.write(".gitattributes", "*.bin filter=lfs\n")
	home := t.TempDir()
	w.sh("HOME=" + home + " GIT_CONFIG_GLOBAL=" + home + "/.gitconfig git lfs install --skip-repo")
	w.options.Environ = append(w.options.Environ, "HOME="+home)
	// Foreman commits one file, and the agent others.
	w.build("echo one >1.bin; cp 1.bin 2.bin; head -c 3000 /dev/zero >3.bin; git add 3.bin; git commit -qm mine; rm 3.bin; echo four >4.bin; chmod +x 4.bin", fmt.Sprintf(builderOK, `"x"`))
	r := w.publish(publish.Incomplete, "lfs")
	_, command, ok := strings.Cut(r.Errors[0].Message, "publish again: ")
	if !ok || len(w.lfs.batches()[0].Objects) != 3 {
		t.Fatalf("got %q", r.Errors[0].Message)
	}
	w.sh("export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http." + w.options.Server + "/.extraHeader GIT_CONFIG_VALUE_0='Authorization: Basic " + basic + "'; " + command)
	w.publish(publish.Published)
}

// TestLFSRefuses lets the LFS server refuse the request.
func TestLFSRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.forge(addPointers(1))
	w.lfs.set(func(rw http.ResponseWriter, _ *http.Request) {
		http.Error(rw, `{"message":"LFS is off `+token+`"}`, http.StatusForbidden)
	})
	want := "ask " + w.options.Server + "/octo/hello.git/info/lfs/objects/batch which objects of Git LFS it has: 403 Forbidden: LFS is off ***: the token needs the permission contents: read"
	if r := w.publish(publish.Failed, "lfs"); r.Errors[0].Message != want || w.pushed() != "" {
		t.Errorf("got %q, want %q", r.Errors[0].Message, want)
	}
}

// TestLFSElsewhere has a configuration of Git LFS in the base commit.
func TestLFSElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.forge("true")
	w.lfs.store(oid(1))
	for _, tt := range []struct {
		name, config string
		asked        int
	}{
		{"another server", `[lfs]\nurl = https://lfs.example.org/x\n`, 0},
		{"only to push", `[remote "origin"]\nlfspushurl = https://lfs.example.org/x\n`, 0},
		{"this server", `[lfs]\nurl = ` + w.options.Server + `/Octo/hello.git/info/lfs/\n`, 1},
		{"no address", `[lfs]\nfetchexclude = x\n`, 1},
	} {
		before, was := w.sh("git rev-parse main foreman/t-1"), len(w.lfs.batches())
		w.sh("printf '" + tt.config + "' >.lfsconfig && git add .lfsconfig && git commit -qm x && git push -q " + w.server + " main && git checkout -q -B foreman/t-1 && " + addPointers(1) + " && git checkout -q main")
		for i, old := range strings.Fields(before) {
			w.sh("sed -i.old s/" + old + "/" + strings.Fields(w.sh("git rev-parse main foreman/t-1"))[i] + "/ .foreman/runs/t-1/report.json .foreman/runs/t-1/state.json")
		}
		w.publish(publish.Published)
		if n := len(w.lfs.batches()) - was; n != tt.asked {
			t.Errorf("%s: %d requests, want %d", tt.name, n, tt.asked)
		}
	}
	// An agent can write this file, too: only that of the base commit counts.
	w = newWorld(t, "")
	w.forge(`printf '[lfs]\nurl = https://lfs.example.org/x\n' >.lfsconfig; ` + addPointers(1))
	w.publish(publish.Incomplete, "lfs")
}

package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/julienschmidt/httprouter"
	"github.com/nektos/act/pkg/artifacts"
	"github.com/nektos/act/pkg/common"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/memory"
)

// TestArtifactRuns saves and loads in three runs of a workflow. Saving a stale revision is
// refused, both in a new run and in the run that saved it.
func TestArtifactRuns(t *testing.T) {
	t.Parallel()
	s := newArtifactServer(t)
	first, second := s.store(ownRepo, 1), s.store(ownRepo, 2)
	empty(t, first, 7)
	saves(t, first, sample(7, 0))
	loads(t, second, stored(sample(7, 0)))
	saves(t, second, sample(7, 1))
	third := s.store(ownRepo, 3)
	for _, store := range []memory.Store{first, second, third} {
		conflicts(t, store, sample(7, 0))
	}
	for _, store := range []memory.Store{first, third} {
		conflicts(t, store, sample(7, 1))
	}
	empty(t, third, 71)
	saves(t, third, sample(71, 0))
	loads(t, third, stored(sample(7, 1)))
	loads(t, first, stored(sample(71, 0)))
	want := map[string][]byte{
		"1/foreman-memory-i7":  encoded(t, stored(sample(7, 0))),
		"2/foreman-memory-i7":  encoded(t, stored(sample(7, 1))),
		"3/foreman-memory-i71": encoded(t, stored(sample(71, 0))),
	}
	if got := s.files(); len(got) != len(want) {
		t.Errorf("got the artifacts %q, want those of %d saves", got, len(want))
	}
	for name, data := range want {
		if got := unzip(t, filepath.Join(s.dir, name, filepath.Base(name)+".zip")); !bytes.Equal(got, data) {
			t.Errorf("%s holds\n%s\nwant\n%s", name, got, data)
		}
	}
}

// TestArtifactAgain saves more than once in a run. This happens under act, because all of its runs
// have the number 1. act replaces the artifact, and no bytes of the older one remain.
func TestArtifactAgain(t *testing.T) {
	t.Parallel()
	s := newArtifactServer(t)
	first := s.store(ownRepo, 1)
	long := sample(7, 0)
	long.Tasks[0].Rationale = strings.Repeat("because ", 400)
	saves(t, first, long)
	saves(t, first, sample(7, 1))
	conflicts(t, first, sample(7, 1))
	second := s.store(ownRepo, 1)
	loads(t, second, stored(sample(7, 1)))
	saves(t, second, sample(7, 2))
	loads(t, s.store(ownRepo, 1), stored(sample(7, 2)))
}

// TestArtifactRace makes another run save completely before the first run uploads its artifact.
// The first run notices this, removes its artifact, and returns an error.
func TestArtifactRace(t *testing.T) {
	t.Parallel()
	s := newArtifactServer(t)
	var once sync.Once
	options := s.options(ownRepo, 2)
	options.Transport = hook{func(r *http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/CreateArtifact") {
			once.Do(func() { saves(t, s.store(ownRepo, 1), sample(7, 0)) })
		}
		return nil
	}, http.DefaultTransport}
	late, err := results.NewArtifact(options)
	if err != nil {
		t.Fatal(err)
	}
	rival := sample(7, 0)
	rival.Tasks[0].Rationale = "another one"
	conflicts(t, late, rival)
	if got := s.files(); len(got) != 1 {
		t.Errorf("got the artifacts %q, want that of run 1", got)
	}
	loads(t, late, stored(sample(7, 0)))
	saves(t, late, sample(7, 1))
	loads(t, s.store(ownRepo, 3), stored(sample(7, 1)))
}

// unzip returns the only file of a zip, which must be the record.
func unzip(t *testing.T, path string) []byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != 1 || z.File[0].Name != "memory.json" {
		t.Fatalf("%s: got %d files, want memory.json", path, len(z.File))
	}
	r, err := z.Open("memory.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An artifactServer serves act's routes for artifacts on a listener of the test. act's own
// listener cannot be used: it needs a port that is known to be free, ends the process otherwise,
// and does not signal when it is ready.
type artifactServer struct {
	t    *testing.T
	dir  string // <run>/<name>/<name>.zip
	http *httptest.Server
}

func newArtifactServer(t *testing.T) *artifactServer {
	t.Helper()
	s := &artifactServer{t: t, dir: t.TempDir()}
	router := httprouter.New()
	artifacts.RoutesV4(router, s.dir, disk{}, disk{})
	var mu sync.Mutex
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock() // act's handlers share a variable without a lock
		defer mu.Unlock()
		defer func() {
			if cause := recover(); cause != nil {
				t.Errorf("act cannot answer %s %s: %v", r.Method, r.URL.Path, cause)
				panic(http.ErrAbortHandler)
			}
		}()
		router.ServeHTTP(w, r)
	}))
	t.Cleanup(s.http.Close)
	return s
}

// store returns the store of a job of the run.
func (s *artifactServer) store(repo string, run int64) *results.Artifact {
	s.t.Helper()
	store, err := results.NewArtifact(s.options(repo, run))
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

// options returns the options that act gives a job in a run.
func (s *artifactServer) options(repo string, run int64) results.Options {
	s.t.Helper()
	token, err := common.CreateAuthorizationToken(run, run, run)
	if err != nil {
		s.t.Fatal(err)
	}
	o := jobOptions(repo, token)
	o.ResultsURL = s.http.URL + "/"
	o.Transport = http.DefaultTransport
	o.Reader = &actReader{s: s, run: run, found: map[int64]string{}}
	return o
}

// files returns the artifacts on disk.
func (s *artifactServer) files() []string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.dir, "*", "*", "*.zip"))
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// A disk is the server's file system, like act's own.
type disk struct{}

func (disk) Open(name string) (fs.File, error) { return os.Open(name) }

func (disk) OpenWritable(name string) (artifacts.WritableFile, error) {
	return openFile(name, os.O_TRUNC)
}

func (disk) OpenAppendable(name string) (artifacts.WritableFile, error) {
	return openFile(name, os.O_APPEND)
}

func openFile(name string, flag int) (artifacts.WritableFile, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY|flag, 0o644)
}

// An actReader reads the artifacts on act's server for a job. act cannot list the artifacts of all
// runs, so the reader takes the runs from the server's folder.
//
// In act, artifacts with the same name have the same ID in every run, but on GitHub IDs increase.
// The reader simulates this: the artifact of the job's own run keeps the ID that the upload
// returned. Artifacts of later runs have higher IDs, and those of earlier runs have lower ones.
type actReader struct {
	s   *artifactServer
	run int64

	mu    sync.Mutex
	found map[int64]string // folders of artifacts, by ID
}

// List implements results.Reader.
func (r *actReader) List(ctx context.Context, name string) ([]results.Info, error) {
	folders, err := filepath.Glob(filepath.Join(r.s.dir, "*", name))
	if err != nil {
		return nil, err
	}
	var out []results.Info
	for _, folder := range folders {
		info, err := r.info(ctx, folder)
		if err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.found[info.ID] = folder
		r.mu.Unlock()
		out = append(out, info)
	}
	return out, nil
}

func (r *actReader) info(ctx context.Context, folder string) (results.Info, error) {
	run, err := strconv.ParseInt(filepath.Base(filepath.Dir(folder)), 10, 64)
	if err != nil {
		return results.Info{}, err
	}
	info := results.Info{Name: filepath.Base(folder), WorkflowRun: results.Run{
		ID: run, RepositoryID: ownRepoID, HeadRepositoryID: ownRepoID, HeadBranch: "main",
	}}
	var list struct {
		Artifacts []struct {
			Name string `json:"name"`
			ID   int64  `json:"databaseId,string"`
		} `json:"artifacts"`
	}
	if err := r.call(ctx, "ListArtifacts", fields(folder, "name_filter"), &list); err != nil {
		return results.Info{}, err
	}
	if len(list.Artifacts) != 1 || list.Artifacts[0].Name != info.Name {
		return results.Info{}, fmt.Errorf("act lists %+v, want only %s", list.Artifacts, info.Name)
	}
	info.ID = list.Artifacts[0].ID + run - r.run
	// act stores no digest, so the digest is computed from the file.
	data, err := os.ReadFile(filepath.Join(folder, info.Name+".zip"))
	if err != nil {
		return results.Info{}, err
	}
	info.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	return info, nil
}

// Recent implements results.Reader.
func (*actReader) Recent(context.Context, int64) ([]results.Info, bool, error) {
	return nil, false, errors.ErrUnsupported
}

// Download implements results.Reader.
func (r *actReader) Download(ctx context.Context, id int64, limit int) ([]byte, error) {
	r.mu.Lock()
	folder, ok := r.found[id]
	r.mu.Unlock()
	if !ok {
		return nil, results.ErrGone
	}
	var to struct {
		URL string `json:"signedUrl"`
	}
	if err := r.call(ctx, "GetSignedArtifactURL", fields(folder, "name"), &to); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.URL, nil)
	if err != nil {
		return nil, err
	}
	data, err := answer(req)
	if err == nil && len(data) > limit {
		err = results.ErrTooLarge
	}
	return data, err
}

// fields returns the fields of a request about the artifact in a folder.
func fields(folder, name string) map[string]string {
	run := filepath.Base(filepath.Dir(folder))
	return map[string]string{"workflow_run_backend_id": run, "workflow_job_run_backend_id": run, name: filepath.Base(folder)}
}

// call calls a method of act's API.
func (r *actReader) call(ctx context.Context, method string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.s.http.URL+artifacts.ArtifactV4RouteBase+"/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	data, err := answer(req)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

func answer(req *http.Request) ([]byte, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return data, err
}

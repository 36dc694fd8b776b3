package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

const (
	maxPointer = 1024    // bytes of a file that may be a pointer
	maxBatch   = 100     // objects in a request, and in the command that uploads them
	maxAnswer  = 4 << 20 // bytes; the addresses of 100 objects take some 200 KB
	timeLimit  = time.Minute
	mediaType  = "application/vnd.git-lfs+json"
	lfsConfig  = ".lfsconfig" // in a repository: the settings of Git LFS for everybody
)

// A pointer is what a file of Git LFS has in a commit in place of its content.
type pointer struct {
	OID  string `json:"oid"` // SHA-256 of the content
	Size int64  `json:"size"`
}

// pointerForm also accepts line endings that are not in the [specification], as Git LFS does.
//
// [specification]: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
var pointerForm = regexp.MustCompile(`^\s*version (?:https://git-lfs\.github\.com/spec/v1|https://hawser\.github\.com/spec/v1|http://git-media\.io/v/2)\r?\n` +
	`(?:[a-z0-9.-]+ [^\r\n]*\r?\n)*oid sha256:([0-9a-f]{64})\r?\n(?:[a-z0-9.-]+ [^\r\n]*\r?\n)*size ([0-9]{1,18})(?:\r?\n[a-z0-9.-]+ [^\r\n]*)*\s*$`)

func parsePointer(content []byte) (p pointer, ok bool) {
	parts := pointerForm.FindSubmatch(content)
	if len(content) > maxPointer || parts == nil {
		return p, false
	}
	size, err := strconv.ParseInt(string(parts[2]), 10, 64)
	return pointer{string(parts[1]), size}, err == nil
}

// pointers returns the pointers among the files that the change adds, sorted.
func (c change) pointers(ctx context.Context, g git.Repo) ([]pointer, error) {
	var blobs []string
	for _, t := range c.touched {
		if t.Mode == git.ModeFile || t.Mode == git.ModeExecutable {
			blobs = append(blobs, t.Blob)
		}
	}
	slices.Sort(blobs)
	var sizes bytes.Buffer
	list := strings.Join(slices.Compact(blobs), "\n") + "\n"
	if err := g.Stream(ctx, git.Streams{In: strings.NewReader(list), Out: &sizes}, "cat-file", "--batch-check=%(objectsize) %(objectname)"); err != nil {
		return nil, err
	}
	var small []string
	for line := range strings.Lines(sizes.String()) {
		size, blob, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(size); err == nil && n <= maxPointer { // an error: there is no such object, so git push fails
			small = append(small, blob)
		}
	}
	var found []pointer
	err := g.Objects(ctx, small, func(_ string, content []byte) {
		if p, ok := parsePointer(content); ok {
			found = append(found, p)
		}
	})
	slices.SortFunc(found, func(a, b pointer) int { return strings.Compare(a.OID, b.OID) })
	return slices.CompactFunc(found, func(a, b pointer) bool { return a.OID == b.OID }), err
}

// missing returns the objects of Git LFS to which the change adds pointers, and which the server does not
// have. Without pointers it makes no request.
func (s *scratch) missing(ctx context.Context, base string, c change) (missing []string, err error) {
	all, err := c.pointers(ctx, s.git)
	if err != nil {
		return nil, failed("git", fmt.Errorf("look for pointers of Git LFS: %w", err))
	}
	if len(all) == 0 {
		return nil, nil
	}
	if other, err := s.otherStore(ctx, base); err != nil {
		return nil, failed("lfs", fmt.Errorf("read %s of the base commit: %w", lfsConfig, err))
	} else if other {
		return nil, nil
	}
	for batch := range slices.Chunk(all, maxBatch) {
		absent, err := s.lfs.missing(ctx, batch)
		if err != nil {
			err = errors.New(secret.Redact(err.Error(), s.hide...))
			return nil, failed("lfs", fmt.Errorf("ask %s which objects of Git LFS it has: %w", s.lfs.url, err))
		}
		missing = append(missing, absent...)
	}
	return missing, nil
}

// incomplete is the error for a change without these objects.
func (s *scratch) incomplete(ctx context.Context, checkout, repository string, missing []string) error {
	return &problem{Incomplete, []handoff.Problem{{Path: "<publish>", Code: "lfs", Message: fmt.Sprintf(
		"the change has pointers of Git LFS whose objects the server does not have: upload them in the checkout of the run, then publish again: git lfs push --object-id %s %s",
		s.remoteName(ctx, checkout, repository), strings.Join(missing[:min(len(missing), maxBatch)], " "))}}}
}

// otherStore reports whether a commit names another LFS server than that of the repository. Foreman
// has no credentials for it, and does not ask it.
func (s *scratch) otherStore(ctx context.Context, commit string) (bool, error) {
	content, err := s.file(ctx, commit, lfsConfig)
	if err != nil || content == nil {
		return false, err
	}
	var out bytes.Buffer
	err = s.git.Stream(ctx, git.Streams{In: bytes.NewReader(content), Out: &out}, "config", "--file=-", "--no-includes", "--null", "--get-regexp", `^(lfs|remote\..*)\.(lfs)?(push)?url$`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return false, nil // it has no such key
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		if _, address, _ := strings.Cut(entry, "\n"); !strings.EqualFold(strings.TrimSuffix(address, "/"), s.url+"/info/lfs") {
			return true, err
		}
	}
	return false, err
}

// remoteName returns the name of the user's remote for a repository, with which git may use SSH, or else
// the address.
func (s *scratch) remoteName(ctx context.Context, checkout, repository string) string {
	const name = "origin"
	out, err := git.Repo{Dir: checkout, Environ: s.git.Environ}.Run(ctx, "config", "--get", "remote."+name+".url")
	server, _ := url.Parse(s.url) // git has used it
	address, ok := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(strings.TrimSpace(string(out)), ".git")), strings.ToLower(repository))
	if err == nil && ok && strings.Contains(address, server.Hostname()) && (strings.HasSuffix(address, "/") || strings.HasSuffix(address, ":")) {
		return name
	}
	return s.url
}

// A store is the LFS server of a repository.
type store struct {
	url    string // of the batch API
	token  string
	client *http.Client
}

// newStore returns the LFS server of the repository at an address. The client follows no redirect,
// because another host would get the token.
func newStore(repository, token string) store {
	return store{repository + "/info/lfs/objects/batch", token, &http.Client{
		Transport:     roundtrip.New(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       timeLimit,
	}}
}

// missing returns the objects that the server does not have, by the [batch API].
//
// [batch API]: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
func (s store) missing(ctx context.Context, objects []pointer) ([]string, error) {
	body, err := json.Marshal(map[string]any{"operation": "download", "transfers": []string{"basic"}, "objects": objects, "hash_algo": "sha256"})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", mediaType)
	r.Header.Set("Content-Type", mediaType)
	r.SetBasicAuth("x-access-token", s.token)
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	there := map[string]bool{}
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusNotImplemented: // a server without LFS has none of them
	case http.StatusOK:
		if there, err = objectsOf(data); err != nil {
			return nil, err
		}
	default:
		return nil, refusal(res.Status, data)
	}
	var absent []string
	for _, o := range objects {
		if !there[o.OID] {
			absent = append(absent, o.OID)
		}
	}
	return absent, nil
}

// objectsOf returns the objects that can be downloaded, from an answer of the batch API.
func objectsOf(data []byte) (map[string]bool, error) {
	var answer struct {
		Objects []struct {
			OID     string                     `json:"oid"`
			Actions map[string]json.RawMessage `json:"actions"`
			Error   *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"objects"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not that of an LFS server: %w", err)
	}
	there := map[string]bool{}
	for _, o := range answer.Objects {
		if e := o.Error; e != nil && e.Code != http.StatusNotFound && e.Code != http.StatusGone {
			return nil, fmt.Errorf("the object %.64s: error %d: %s", o.OID, e.Code, text.Plain(e.Message, text.Quoted))
		}
		there[o.OID] = o.Error == nil && o.Actions["download"] != nil
	}
	return there, nil
}

// refusal is the error of an answer without success.
func refusal(status string, data []byte) error {
	var answer struct {
		Message string `json:"message"`
	}
	err := errors.New(status)
	advice := access(err, "contents: read")
	if json.Unmarshal(data, &answer) == nil && answer.Message != "" {
		err = fmt.Errorf("%s: %s", status, text.Plain(answer.Message, maxLine))
	}
	return fmt.Errorf("%w%s", err, advice)
}

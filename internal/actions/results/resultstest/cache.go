package resultstest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A Cache is an entry of the cache.
type Cache struct {
	Key, Version string
	Data         []byte
}

type entry struct {
	Cache
	id       int64
	blob     int64
	finished bool
}

// AddCache puts an entry there. With nil data its key is only reserved, as by a
// program that was killed.
func (s *Server) AddCache(c Cache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.reserve(c.Key, c.Version)
	e.finished = c.Data != nil
	s.blobs[e.blob].data, s.blobs[e.blob].written = c.Data, e.finished
}

// Caches returns the finished entries, oldest first.
func (s *Server) Caches() []Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Cache
	for _, e := range s.caches {
		if e.finished {
			out = append(out, Cache{e.Key, e.Version, slices.Clone(s.blobs[e.blob].data)})
		}
	}
	return out
}

func (s *Server) reserve(key, version string) *entry {
	e := &entry{Cache: Cache{Key: key, Version: version}, id: s.id(), blob: s.place()}
	s.caches = append(s.caches, e)
	return e
}

// entry returns the entry of a key, finished or not.
func (s *Server) entry(key, version string) *entry {
	i := slices.IndexFunc(s.caches, func(e *entry) bool { return e.Key == key && e.Version == version })
	if i < 0 {
		return nil
	}
	return s.caches[i]
}

// search returns what the keys match: first the first key whole, then each as a
// prefix, the newest entry winning.
func (s *Server) search(keys []string, version string) *entry {
	if e := s.entry(keys[0], version); e != nil && e.finished {
		return e
	}
	for _, key := range keys {
		for _, e := range slices.Backward(s.caches) {
			if e.finished && e.Version == version && strings.HasPrefix(e.Key, key) {
				return e
			}
		}
	}
	return nil
}

func goodKey(key string) bool { return key != "" && len(key) <= 512 && !strings.Contains(key, ",") }

func (r *request) createCacheEntry() answer {
	var in struct {
		Key     string `json:"key"`
		Version string `json:"version"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	switch {
	case !goodKey(in.Key) || in.Version == "":
		return r.problem("key %q, version %q", in.Key, in.Version)
	case r.s.denied[CacheWrite]:
		return r.ok(map[string]any{"ok": false, "signed_upload_url": "", "message": "cache write denied: token has no writable scopes"})
	case r.s.entry(in.Key, in.Version) != nil:
		return failure(http.StatusConflict, "already_exists", "cache entry with the same key, version, and scope already exists")
	}
	e := r.s.reserve(in.Key, in.Version)
	return r.ok(map[string]any{"ok": true, "signed_upload_url": r.s.address(e.blob, "w"), "message": ""})
}

func (r *request) finalizeCacheEntry() answer {
	var in struct {
		Key     string `json:"key"`
		Version string `json:"version"`
		Size    number `json:"size_bytes"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	e := r.s.entry(in.Key, in.Version)
	switch {
	case e == nil || !r.s.blobs[e.blob].written:
		return failure(http.StatusNotFound, "not_found", "cache entry upload not found")
	case e.finished:
		return failure(http.StatusConflict, "already_exists", "cache entry is finished")
	case int64(in.Size) != int64(len(r.s.blobs[e.blob].data)):
		return r.problem("size_bytes is %d, of %d", in.Size, len(r.s.blobs[e.blob].data))
	}
	r.s.finish(e)
	return r.ok(map[string]any{"ok": true, "entry_id": e.id, "message": ""})
}

// finish makes an entry the newest one.
func (s *Server) finish(e *entry) {
	e.finished = true
	s.caches = append(slices.DeleteFunc(s.caches, func(x *entry) bool { return x == e }), e)
}

func (r *request) findCacheEntry() answer {
	var in struct {
		Key     string   `json:"key"`
		Restore []string `json:"restore_keys"`
		Version string   `json:"version"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	keys := append([]string{in.Key}, in.Restore...)
	switch {
	case len(keys) > 11 || slices.ContainsFunc(keys, func(k string) bool { return !goodKey(k) }) || in.Version == "":
		return r.problem("keys %q, version %q", keys, in.Version)
	case r.s.denied[CacheRead]:
		return failure(http.StatusForbidden, "permission_denied", "cache read denied: token has no readable scopes")
	case len(in.Restore) == 0:
		// The real service is known to look at nothing else.
		return r.ok(map[string]any{"ok": false})
	}
	e := r.s.search(in.Restore, in.Version)
	if e == nil {
		return r.ok(map[string]any{"ok": false, "signed_download_url": "", "matched_key": ""})
	}
	return r.ok(map[string]any{"ok": true, "signed_download_url": r.s.address(e.blob, "r"), "matched_key": e.Key})
}

// cacheV1 serves version 1 of the service.
func (r *request) cacheV1(path string) answer {
	if r.Header.Get("Accept") != "application/json;api-version=6.0-preview.1" {
		return r.problem("Accept is %q", r.Header.Get("Accept"))
	}
	head, tail, _ := strings.Cut(path, "/")
	id, _ := strconv.ParseInt(tail, 10, 64)
	i := slices.IndexFunc(r.s.caches, func(e *entry) bool { return e.id == id })
	switch what := r.Method + " " + head; {
	case what == "GET cache":
		return r.findV1()
	case what == "POST caches" && tail == "":
		return r.reserveV1()
	case i < 0:
		return r.problem("there is no such route, or cache")
	case what == "PATCH caches":
		return r.uploadV1(r.s.caches[i])
	case what == "POST caches":
		return r.commitV1(r.s.caches[i])
	}
	return r.problem("there is no such route")
}

func (r *request) findV1() answer {
	keys, version := strings.Split(r.URL.Query().Get("keys"), ","), r.URL.Query().Get("version")
	switch {
	case len(keys) > 10 || keys[0] == "" || version == "":
		return r.problem("keys %q, version %q", keys, version)
	case r.s.denied[CacheRead]:
		return refusal(http.StatusForbidden, "caches may not be read")
	}
	e := r.s.search(keys, version)
	if e == nil {
		return answer{status: http.StatusNoContent}
	}
	return reply(http.StatusOK, map[string]any{
		"cacheKey": e.Key, "scope": "refs/heads/" + r.job.HeadBranch, "archiveLocation": r.s.address(e.blob, "r"),
	})
}

func (r *request) reserveV1() answer {
	var in struct {
		Key     string `json:"key"`
		Version string `json:"version"`
		Size    int64  `json:"cacheSize"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	switch {
	case !goodKey(in.Key) || in.Version == "" || r.Header.Get("Content-Type") != "application/json":
		return r.problem("key %q, version %q", in.Key, in.Version)
	case r.s.denied[CacheWrite]:
		return refusal(http.StatusForbidden, "caches may not be written")
	case r.s.entry(in.Key, in.Version) != nil:
		return refusal(http.StatusConflict, "Cache already exists")
	}
	return reply(http.StatusCreated, map[string]any{"cacheId": r.s.reserve(in.Key, in.Version).id})
}

func (r *request) uploadV1(e *entry) answer {
	want := fmt.Sprintf("bytes 0-%d/*", len(r.body)-1)
	if got := r.Header.Get("Content-Range"); got != want || e.finished {
		return r.problem("Content-Range is %q, want %q", got, want)
	}
	r.s.blobs[e.blob].data, r.s.blobs[e.blob].written = r.body, true
	return answer{status: http.StatusNoContent}
}

func (r *request) commitV1(e *entry) answer {
	var in struct {
		Size int64 `json:"size"`
	}
	if a, ok := r.decode(&in); !ok {
		return a
	}
	if e.finished || in.Size != int64(len(r.s.blobs[e.blob].data)) {
		return r.problem("size is %d, of %d", in.Size, len(r.s.blobs[e.blob].data))
	}
	r.s.finish(e)
	return answer{status: http.StatusNoContent}
}

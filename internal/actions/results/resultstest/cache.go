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

// caches is the cache service.
type caches struct {
	ids     *ids
	storage *storage
	denied  map[Denial]bool
	list    []*entry
}

type entry struct {
	Cache
	id       int64
	blob     *blob
	finished bool
}

func (s *caches) reserve(key, version string) *entry {
	e := &entry{Cache: Cache{Key: key, Version: version}, id: s.ids.next(), blob: s.storage.place()}
	s.list = append(s.list, e)
	return e
}

func (s *caches) add(c Cache) {
	e := s.reserve(c.Key, c.Version)
	e.finished = c.Data != nil
	e.blob.data, e.blob.written = c.Data, e.finished
}

// finished returns the finished entries, oldest first.
func (s *caches) finished() []Cache {
	var out []Cache
	for _, e := range s.list {
		if e.finished {
			out = append(out, Cache{e.Key, e.Version, slices.Clone(e.blob.data)})
		}
	}
	return out
}

// entry returns the entry of a key, finished or not.
func (s *caches) entry(key, version string) *entry {
	i := slices.IndexFunc(s.list, func(e *entry) bool { return e.Key == key && e.Version == version })
	if i < 0 {
		return nil
	}
	return s.list[i]
}

// search returns the entry that matches the keys, nil if none does. It first looks for an entry
// whose whole key equals keys[0], then takes each key as a prefix. Of several matches the newest
// entry wins.
func (s *caches) search(keys []string, version string) *entry {
	if e := s.entry(keys[0], version); e != nil && e.finished {
		return e
	}
	for _, key := range keys {
		for _, e := range slices.Backward(s.list) {
			if e.finished && e.Version == version && strings.HasPrefix(e.Key, key) {
				return e
			}
		}
	}
	return nil
}

// finish makes an entry the newest one.
func (s *caches) finish(e *entry) {
	e.finished = true
	s.list = append(slices.DeleteFunc(s.list, func(x *entry) bool { return x == e }), e)
}

func goodKey(key string) bool { return key != "" && len(key) <= 512 && !strings.Contains(key, ",") }

// methods returns the methods of version 2 of the service.
func (s *caches) methods() map[string]method {
	return map[string]method{
		"CacheService/CreateCacheEntry":         decoded(s.create),
		"CacheService/FinalizeCacheEntryUpload": decoded(s.finalize),
		"CacheService/GetCacheEntryDownloadURL": decoded(s.find),
	}
}

type cacheRef struct {
	Key     string `json:"key"`
	Version string `json:"version"`
}

func (s *caches) create(_ request, in cacheRef) answer {
	switch {
	case !goodKey(in.Key) || in.Version == "":
		return problem("key %q, version %q", in.Key, in.Version)
	case s.denied[CacheWrite]:
		return answer{fields: object{"ok": false, "signed_upload_url": "", "message": "cache write denied: token has no writable scopes"}}
	case s.entry(in.Key, in.Version) != nil:
		return failure(http.StatusConflict, "already_exists", "cache entry with the same key, version, and scope already exists")
	}
	e := s.reserve(in.Key, in.Version)
	return answer{fields: object{"ok": true, "signed_upload_url": s.storage.address(e.blob, "w"), "message": ""}}
}

func (s *caches) finalize(_ request, in struct {
	cacheRef
	Size number `json:"size_bytes"`
}) answer {
	e := s.entry(in.Key, in.Version)
	switch {
	case e == nil || !e.blob.written:
		return failure(http.StatusNotFound, "not_found", "cache entry upload not found")
	case e.finished:
		return failure(http.StatusConflict, "already_exists", "cache entry is finished")
	case int64(in.Size) != int64(len(e.blob.data)):
		return problem("size_bytes is %d, of %d", in.Size, len(e.blob.data))
	}
	s.finish(e)
	return answer{fields: object{"ok": true, "entry_id": e.id, "message": ""}}
}

func (s *caches) find(_ request, in struct {
	cacheRef
	Restore []string `json:"restore_keys"`
}) answer {
	keys := append([]string{in.Key}, in.Restore...)
	switch {
	case len(keys) > 11 || slices.ContainsFunc(keys, func(k string) bool { return !goodKey(k) }) || in.Version == "":
		return problem("keys %q, version %q", keys, in.Version)
	case s.denied[CacheRead]:
		return failure(http.StatusForbidden, "permission_denied", "cache read denied: token has no readable scopes")
	case len(in.Restore) == 0:
		// The real service is known to look only at the restore keys.
		return answer{fields: object{"ok": false}}
	}
	e := s.search(in.Restore, in.Version)
	if e == nil {
		return answer{fields: object{"ok": false, "signed_download_url": "", "matched_key": ""}}
	}
	return answer{fields: object{"ok": true, "signed_download_url": s.storage.address(e.blob, "r"), "matched_key": e.Key}}
}

// serveV1 serves version 1 of the service.
func (s *caches) serveV1(r request, path string) answer {
	if accept := r.Header.Get("Accept"); accept != "application/json;api-version=6.0-preview.1" {
		return problem("Accept is %q", accept)
	}
	head, tail, _ := strings.Cut(path, "/")
	id, _ := strconv.ParseInt(tail, 10, 64)
	i := slices.IndexFunc(s.list, func(e *entry) bool { return e.id == id })
	switch route := r.Method + " " + head; {
	case route == "GET cache":
		return s.findV1(r)
	case route == "POST caches" && tail == "":
		return decoded(s.reserveV1)(r)
	case i < 0:
		return problem("there is no such route, or cache")
	case route == "PATCH caches":
		return s.list[i].upload(r)
	case route == "POST caches":
		return decoded(func(_ request, in commitV1) answer { return s.commit(s.list[i], in.Size) })(r)
	}
	return problem("there is no such route")
}

func (s *caches) findV1(r request) answer {
	keys, version := strings.Split(r.URL.Query().Get("keys"), ","), r.URL.Query().Get("version")
	switch {
	case len(keys) > 10 || keys[0] == "" || version == "":
		return problem("keys %q, version %q", keys, version)
	case s.denied[CacheRead]:
		return refusal(http.StatusForbidden, "caches may not be read")
	}
	e := s.search(keys, version)
	if e == nil {
		return answer{status: http.StatusNoContent}
	}
	return reply(http.StatusOK, object{
		"cacheKey": e.Key, "scope": "refs/heads/" + r.job.HeadBranch, "archiveLocation": s.storage.address(e.blob, "r"),
	})
}

func (s *caches) reserveV1(r request, in struct {
	cacheRef
	Size int64 `json:"cacheSize"`
}) answer {
	switch {
	case !goodKey(in.Key) || in.Version == "" || r.Header.Get("Content-Type") != "application/json":
		return problem("key %q, version %q", in.Key, in.Version)
	case s.denied[CacheWrite]:
		return refusal(http.StatusForbidden, "caches may not be written")
	case s.entry(in.Key, in.Version) != nil:
		return refusal(http.StatusConflict, "Cache already exists")
	}
	return reply(http.StatusCreated, object{"cacheId": s.reserve(in.Key, in.Version).id})
}

func (e *entry) upload(r request) answer {
	want := fmt.Sprintf("bytes 0-%d/*", len(r.body)-1)
	if got := r.Header.Get("Content-Range"); got != want || e.finished {
		return problem("Content-Range is %q, want %q", got, want)
	}
	e.blob.data, e.blob.written = r.body, true
	return answer{status: http.StatusNoContent}
}

type commitV1 struct {
	Size int64 `json:"size"`
}

func (s *caches) commit(e *entry, size int64) answer {
	if e.finished || size != int64(len(e.blob.data)) {
		return problem("size is %d, of %d", size, len(e.blob.data))
	}
	s.finish(e)
	return answer{status: http.StatusNoContent}
}

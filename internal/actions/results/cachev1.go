package results

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/org/foreman-action/internal/actions/results/internal/rpc"
)

// cacheV1 is the cache service of GitHub Enterprise Server, and of servers that are
// compatible with it.
type cacheV1 struct {
	c       *rpc.Client
	version string
}

// find implements cacheService.
func (s *cacheV1) find(ctx context.Context, prefix string) (string, rpc.SignedURL, error) {
	q := url.Values{"keys": {prefix}, "version": {s.version}}
	got, err := s.c.Do(ctx, s.request("look up the cache entry", http.MethodGet, "cache?"+q.Encode()))
	if err != nil || got.Status == http.StatusNoContent {
		return "", rpc.SignedURL{}, err
	}
	fields, err := got.Fields()
	if err != nil {
		return "", rpc.SignedURL{}, err
	}
	return foundEntry(s.c, fields, "cacheKey", "archiveLocation")
}

// reserve implements cacheService.
func (s *cacheV1) reserve(ctx context.Context, key string, size int) (reservation, error) {
	in := s.request("reserve the cache entry", http.MethodPost, "caches")
	in.JSON = struct {
		Key     string `json:"key"`
		Version string `json:"version"`
		Size    int    `json:"cacheSize"`
	}{key, s.version, size}
	got, err := s.c.Do(ctx, in)
	switch {
	case rpc.IsTaken(err):
		return reservation{}, fmt.Errorf("%w: %w", errKeyTaken, err)
	case err != nil:
		return reservation{}, err
	}
	fields, err := got.Fields()
	if err != nil {
		return reservation{}, err
	}
	id, err := fields.Number("cacheId")
	if err != nil {
		return reservation{}, err
	}
	return reservation{key: key, path: "caches/" + strconv.FormatInt(id, 10)}, nil
}

// upload implements cacheService.
func (s *cacheV1) upload(ctx context.Context, r reservation, data []byte) error {
	chunk := s.request("upload the cache entry", http.MethodPatch, r.path)
	chunk.Body = data
	chunk.Header["Content-Type"] = "application/octet-stream"
	chunk.Header["Content-Range"] = fmt.Sprintf("bytes 0-%d/*", len(data)-1)
	if _, err := s.c.Do(ctx, chunk); err != nil {
		return err
	}
	finish := s.request("finish the cache entry", http.MethodPost, r.path)
	finish.JSON = struct {
		Size int `json:"size"`
	}{len(data)}
	_, err := s.c.Do(ctx, finish)
	return err
}

func (s *cacheV1) request(what, method, path string) rpc.Request {
	return rpc.Request{
		What: what, Method: method, Path: "/_apis/artifactcache/" + path,
		Header: map[string]string{"Accept": "application/json;api-version=6.0-preview.1"},
	}
}

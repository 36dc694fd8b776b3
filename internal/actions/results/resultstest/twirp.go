package resultstest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// failure is an error of Twirp.
func failure(status int, code, text string) answer {
	return reply(status, map[string]any{"code": code, "msg": text})
}

// refusal is an error of the REST API, and of version 1 of the cache service.
func refusal(status int, text string) answer {
	return reply(status, map[string]any{"message": text})
}

func reply(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // of maps made here
	}
	return answer{status, map[string]string{"Content-Type": "application/json"}, body}
}

// twirp serves the methods of both services.
func (r *request) twirp(method string) answer {
	routes := map[string]func() answer{
		"ArtifactService/CreateArtifact":        r.createArtifact,
		"ArtifactService/FinalizeArtifact":      r.finalizeArtifact,
		"ArtifactService/ListArtifacts":         r.listArtifacts,
		"ArtifactService/DeleteArtifact":        r.deleteArtifact,
		"CacheService/CreateCacheEntry":         r.createCacheEntry,
		"CacheService/FinalizeCacheEntryUpload": r.finalizeCacheEntry,
		"CacheService/GetCacheEntryDownloadURL": r.findCacheEntry,
	}
	route, ok := routes[method]
	switch {
	case !ok:
		return r.problem("there is no such method")
	case r.Method != http.MethodPost:
		return r.problem("want POST")
	case r.Header.Get("Content-Type") != "application/json":
		return r.problem("Content-Type is %q", r.Header.Get("Content-Type"))
	}
	return route()
}

// decode reads the request's JSON; unknown fields are refused.
func (r *request) decode(v any) (answer, bool) {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return r.problem("%v", err), false
	}
	return answer{}, true
}

// ok answers with fields whose names are given as in "signed_upload_url".
func (r *request) ok(fields map[string]any) answer {
	out := map[string]any{}
	for name, v := range fields {
		if n, isNumber := v.(int64); isNumber && !r.s.config.CamelCase {
			v = strconv.FormatInt(n, 10)
		}
		out[r.s.spell(name)] = v
	}
	return reply(http.StatusOK, out)
}

func (s *Server) spell(name string) string {
	if !s.config.CamelCase {
		return name
	}
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// A number is a whole number that may come as a string.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 64)
	*n = number(v)
	return err
}

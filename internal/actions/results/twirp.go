package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const twirpRoot = "/twirp/github.actions.results.api.v1."

// twirp calls a method such as "CacheService/CreateCacheEntry" of the results service.
func (c *client) twirp(ctx context.Context, what, method string, in any) (answer, error) {
	body, err := marshal(in)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", what, err)
	}
	r := call{what: what, method: http.MethodPost, url: c.base + twirpRoot + method, header: c.authorised(), body: body}
	r.header["Content-Type"] = "application/json"
	got, err := c.do(ctx, r)
	if err != nil {
		return answer{}, err
	}
	a, err := parseAnswer(got.body)
	return a, c.wrap(err, r)
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// An answer is a JSON object in one of the two spellings of protocol buffers: names
// like "signed_upload_url" or "signedUploadUrl", whole numbers as such or as strings.
type answer struct {
	fields map[string]json.RawMessage // by name in lower case, without "_"
}

func parseAnswer(body []byte) (answer, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil || raw == nil {
		return answer{}, errors.New("the answer is not a JSON object")
	}
	a := answer{map[string]json.RawMessage{}}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		key := fold(name)
		if _, twice := a.fields[key]; twice {
			return answer{}, errors.New("the answer holds a field twice")
		}
		a.fields[key] = raw[name]
	}
	return a, nil
}

func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// read puts a field into v; one that is absent or null leaves v alone.
func (a answer) read(name string, v any) error {
	raw, ok := a.fields[fold(name)]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("the answer's %s has another type", name)
	}
	return nil
}

// ok returns the field "ok", and the text that goes with a false one.
func (a answer) ok() (ok bool, message string, err error) {
	err = errors.Join(a.read("ok", &ok), a.read("message", &message))
	return ok, message, err
}

// text returns a text that must be there.
func (a answer) text(name string) (string, error) {
	var s string
	if err := a.read(name, &s); err != nil {
		return "", err
	}
	if s == "" {
		return "", fmt.Errorf("the answer has no %s", name)
	}
	return s, nil
}

// number returns a whole number above zero that must be there, quoted or not.
func (a answer) number(name string) (int64, error) {
	raw := strings.TrimSpace(string(a.fields[fold(name)]))
	if s, err := strconv.Unquote(raw); err == nil && strings.HasPrefix(raw, `"`) {
		raw = s
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the answer has no %s", name)
	}
	return n, nil
}

package resultstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A request is one call, and the job that its runtime token belongs to.
type request struct {
	*http.Request
	body []byte
	job  Job
}

// An answer is a response of the service. Either problem or fields or the other three are set.
type answer struct {
	status  int
	header  http.Header
	body    []byte
	fields  object // result of a Twirp method; the names are like "signed_upload_url"
	problem string // the mistake, if GitHub's own clients would not send such a request
}

type object = map[string]any

// problem refuses a request that GitHub's own clients would not send.
func problem(format string, args ...any) answer { return answer{problem: fmt.Sprintf(format, args...)} }

// failure returns an error of the Twirp protocol.
func failure(status int, code, text string) answer {
	return reply(status, object{"code": code, "msg": text})
}

// refusal returns an error of the REST API or of version 1 of the cache service.
func refusal(status int, text string) answer { return reply(status, object{"message": text}) }

func reply(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: v consists of maps made in this package
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: body}
}

// A method answers one call with a JSON body.
type method func(request) answer

// decoded converts a function of the decoded body to a method. A body with unknown fields is a
// problem.
func decoded[T any](f func(r request, in T) answer) method {
	return func(r request) answer {
		var in T
		d := json.NewDecoder(bytes.NewReader(r.body))
		d.DisallowUnknownFields()
		if err := d.Decode(&in); err != nil {
			return problem("%v", err)
		}
		return f(r, in)
	}
}

// twirp calls a method. A nil method is a problem, because there is no method of that name.
func twirp(r request, call method, camelCase bool) answer {
	switch {
	case call == nil:
		return problem("there is no such method")
	case r.Method != http.MethodPost:
		return problem("want POST")
	case r.Header.Get("Content-Type") != "application/json":
		return problem("Content-Type is %q", r.Header.Get("Content-Type"))
	}
	a := call(r)
	if a.fields != nil {
		return reply(http.StatusOK, convertNames(a.fields, camelCase))
	}
	return a
}

// convertNames returns a value in one of the two spellings of protocol buffers.
func convertNames(v any, camelCase bool) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, field := range v {
			if camelCase {
				name = camel(name)
			}
			out[name] = convertNames(field, camelCase)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = convertNames(item, camelCase)
		}
		return out
	case int64:
		if !camelCase {
			return strconv.FormatInt(v, 10)
		}
	}
	return v
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// A number is a whole number; its JSON may also be a string.
type number int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 64)
	*n = number(v)
	return err
}

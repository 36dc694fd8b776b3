package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/llm/llmtest"
)

const (
	anthropicBody = `{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"t"}]}`
	openAIBody    = `{"model":"m","max_completion_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"t"}]}`
	ollamaBody    = `{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"s"},{"role":"user","content":"t"}]}`
)

// A sent is a request, made by changing a correct one.
type sent struct {
	provider string
	method   string
	path     string
	header   map[string]string
	body     string
}

func correct(provider string) sent {
	s := sent{provider, http.MethodPost, "/v1/chat/completions", map[string]string{
		"Content-Type": "application/json", "User-Agent": "foreman", "Authorization": "Bearer " + llmtest.Key,
	}, openAIBody}
	switch provider {
	case llmtest.Ollama:
		s.body = ollamaBody
	case llmtest.Anthropic:
		s.path, s.body = "/v1/messages", anthropicBody
		delete(s.header, "Authorization")
		s.header["X-Api-Key"], s.header["Anthropic-Version"] = llmtest.Key, "2023-06-01"
	}
	return s
}

// send sends the request, and returns the status and the body of the response.
func (s sent) send(t *testing.T, base string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), s.method, base+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range s.header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// TestStrict sends correct requests, and incorrect ones with one mistake each.
func TestStrict(t *testing.T) {
	t.Parallel()
	header := func(name, value string) func(*sent) { return func(s *sent) { s.header[name] = value } }
	without := func(name string) func(*sent) { return func(s *sent) { delete(s.header, name) } }
	body := func(old, new string) func(*sent) {
		return func(s *sent) { s.body = strings.Replace(s.body, old, new, 1) }
	}
	all := []string{llmtest.Anthropic, llmtest.OpenAI, llmtest.Ollama}
	keyed := []string{llmtest.Anthropic, llmtest.OpenAI}
	tests := []struct {
		name      string
		providers []string
		change    func(*sent)
		status    int
	}{
		{"correct", all, func(*sent) {}, 200},
		{"path", all, func(s *sent) { s.path += "/" }, 404},
		{"query", all, func(s *sent) { s.path += "?x=1" }, 404},
		{"method", all, func(s *sent) { s.method = http.MethodPut }, 405},
		{"no key", keyed, func(s *sent) { delete(s.header, "X-Api-Key"); delete(s.header, "Authorization") }, 401},
		{"no key for Ollama", []string{llmtest.Ollama}, without("Authorization"), 200},
		{"wrong key", []string{llmtest.Anthropic}, header("X-Api-Key", "sk-1"), 401},
		{"wrong bearer", []string{llmtest.OpenAI, llmtest.Ollama}, header("Authorization", "Bearer sk-1"), 401},
		{"bearer for Anthropic", []string{llmtest.Anthropic}, header("Authorization", "Bearer "+llmtest.Key), 401},
		{"key of Anthropic's", []string{llmtest.OpenAI, llmtest.Ollama}, header("X-Api-Key", llmtest.Key), 401},
		{"version", []string{llmtest.Anthropic}, header("Anthropic-Version", "2023-01-01"), 400},
		{"no version", []string{llmtest.Anthropic}, without("Anthropic-Version"), 400},
		{"content type", all, header("Content-Type", "text/plain"), 400},
		{"user agent", all, without("User-Agent"), 400},
		{"no JSON", all, func(s *sent) { s.body = "hello" }, 400},
		{"something behind", all, func(s *sent) { s.body += "{}" }, 400},
		{"too large", all, func(s *sent) { s.body += strings.Repeat(" ", 1<<20) }, 413},
		{"unknown field", all, body(`"model"`, `"temperature":1,"model"`), 400},
		{"unknown field of a message", all, body(`"role"`, `"name":"x","role"`), 400},
		{"no model", all, body(`"model":"m",`, ``), 400},
		{"no tokens", all, body(`tokens":9`, `tokens":0`), 400},
		{"tokens of the other kind", []string{llmtest.OpenAI}, body(`max_completion_tokens`, `max_tokens`), 400},
		{"tokens of OpenAI", []string{llmtest.Ollama}, body(`max_tokens`, `max_completion_tokens`), 400},
		{"tokens missing", all, func(s *sent) {
			s.body = strings.NewReplacer(`"max_tokens":9,`, ``, `"max_completion_tokens":9,`, ``).Replace(s.body)
		}, 400},
		{"blank text", all, body(`"content":"t"`, `"content":" "`), 400},
		{"other role", all, body(`"role":"user"`, `"role":"assistant"`), 400},
		{"two of the user", all, body(`{"role":"user"`, `{"role":"user","content":"u"},{"role":"user"`), 400},
		{"only the system", []string{llmtest.OpenAI, llmtest.Ollama}, body(`,{"role":"user","content":"t"}`, ``), 400},
		{"blank system", []string{llmtest.Anthropic}, body(`"system":"s"`, `"system":""`), 400},
		{"no message", []string{llmtest.Anthropic}, func(s *sent) { s.body = `{"model":"m","max_tokens":9,"messages":[]}` }, 400},
	}
	for _, tt := range tests {
		for _, p := range tt.providers {
			t.Run(tt.name+"/"+p, func(t *testing.T) {
				t.Parallel()
				s := llmtest.New(t, p, nil)
				req := correct(p)
				tt.change(&req)
				status, answer := req.send(t, s.URL)
				got := s.Requests()
				if status != tt.status || len(got) != 1 || (got[0].Err == nil) != (status == 200) {
					t.Fatalf("got status %d and %d requests, want %d\n%s", status, len(got), tt.status, answer)
				}
				if wrong := strings.Contains(answer, `"error"`); wrong != (status != 200) {
					t.Errorf("got %s", answer)
				}
				r := got[0]
				if status == 200 && (r.Model != "m" || r.System != "s" || r.Text != "t" || r.MaxTokens != 9 || r.URI != req.path) {
					t.Errorf("got %+v", r)
				}
			})
		}
	}
}

// TestAnswers pins the bytes of the responses.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		provider string
		answer   llmtest.Answer
		want     string
	}{
		{llmtest.Anthropic, llmtest.Answer{Text: "a", Think: "b", Stop: llmtest.Tool},
			`{"content":[{"signature":"c2lnbmVk","thinking":"b","type":"thinking"},{"text":"a","type":"text"},` +
				`{"id":"toolu_1","input":{"query":"a"},"name":"search","type":"tool_use"}],"id":"msg_1","model":"claude-test",` +
				`"role":"assistant","stop_reason":"tool_use","stop_sequence":null,"type":"message","usage":{"input_tokens":100,"output_tokens":50}}`},
		{llmtest.Anthropic, llmtest.Fail(529, "overloaded_error"),
			`{"error":{"message":"something is wrong","type":"overloaded_error"},"request_id":"req_1","type":"error"}`},
		{llmtest.OpenAI, llmtest.Answer{Text: "no", Stop: llmtest.Refused},
			`{"choices":[{"finish_reason":"stop","index":0,"logprobs":null,"message":{"content":null,"refusal":"no","role":"assistant"}}],` +
				`"created":1775804400,"id":"chatcmpl-1","model":"gpt-test","object":"chat.completion",` +
				`"usage":{"completion_tokens":50,"prompt_tokens":100,"total_tokens":150}}`},
		{llmtest.Ollama, llmtest.Fail(404, "not_found_error"),
			`{"error":{"code":"not_found_error","message":"something is wrong","param":null,"type":"not_found_error"}}`},
		{llmtest.Ollama, llmtest.Raw("garbage"), "garbage"},
	}
	for _, tt := range tests {
		s := llmtest.New(t, tt.provider, llmtest.InTurn(tt.answer))
		for range 2 {
			_, got := correct(tt.provider).send(t, s.URL)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s -want +got:\n%s", tt.provider, diff)
			}
		}
	}
}

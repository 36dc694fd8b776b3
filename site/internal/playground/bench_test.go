package playground_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/site/internal/playground"
)

// BenchmarkAnswer is the time from the JSON of a request with 50 rules to that of its response.
func BenchmarkAnswer(b *testing.B) {
	file, err := os.ReadFile("../../../internal/e2e/cmd/bench/testdata/foreman.yml")
	if err != nil {
		b.Fatal(err)
	}
	payload, err := os.ReadFile("../../../testdata/events/issues/opened.payload.json")
	if err != nil {
		b.Fatal(err)
	}
	head, list, _ := strings.Cut(string(file), "rules:\n")
	text := head + "rules:\n"
	for i := range 5 {
		text += strings.ReplaceAll(list, "- id: ", fmt.Sprintf("- id: n%d-", i))
	}
	request, err := json.Marshal(playground.Request{Rules: text, Payload: string(payload)})
	if err != nil {
		b.Fatal(err)
	}
	e := playground.Engine{Now: time.Now}
	var answer playground.Response
	if err := json.Unmarshal([]byte(e.AnswerJSON(b.Context(), string(request))), &answer); err != nil || answer.Explanation == nil || len(answer.Explanation.Rules) != 50 {
		b.Fatalf("not 50 rules: %v %s %v", err, answer.Error, answer.Problems)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.AnswerJSON(b.Context(), string(request))
	}
}

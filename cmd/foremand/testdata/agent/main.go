// Agent is an agent for tests that behaves like published agents: it first works off the waiting
// tasks, then listens and claims tasks whenever it is nudged. It labels every issue.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	for one() {
	}
	http.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"ok"}`) })
	http.HandleFunc("POST /task", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		go one()
	})
	http.HandleFunc("GET /crash", func(http.ResponseWriter, *http.Request) { os.Exit(7) })
	fmt.Println(http.ListenAndServe(":8000", nil))
}

// one decides a task, and reports whether there was one.
func one() bool {
	code, data := post("/queue/next", map[string]string{"agent_url": os.Getenv("AGENT_URL")})
	if code == http.StatusNoContent {
		return false
	}
	var task struct {
		ID string `json:"task_id"`
	}
	if code != http.StatusOK || json.Unmarshal(data, &task) != nil {
		fmt.Println("claim:", code, string(data))
		os.Exit(5)
	}
	code, data = post("/queue/complete", map[string]any{
		"task_id": task.ID, "decision": "label_and_respond", "rationale": "by " + os.Getenv("NAME"),
		"actions": []map[string]string{{"type": "add_label", "label": "bug"}},
	})
	if code != http.StatusAccepted {
		fmt.Println("complete:", code, string(data))
		os.Exit(6)
	}
	return true
}

func post(path string, body any) (int, []byte) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	resp, err := http.Post(os.Getenv("FOREMAN_HARNESS_URL")+path, "application/json", bytes.NewReader(data))
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	data, _ = io.ReadAll(resp.Body)
	return resp.StatusCode, data
}

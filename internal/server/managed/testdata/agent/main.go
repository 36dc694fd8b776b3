// Agent is an agent for tests. Like published agents, it claims a task before it listens.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := fmt.Sprintf(`{"agent_url":%q}`, os.Getenv("AGENT_URL"))
	resp, err := http.Post(os.Getenv("FOREMAN_HARNESS_URL")+"/queue/next", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
	if resp.StatusCode != http.StatusNoContent {
		fmt.Println("the server answered with", resp.Status, "at", os.Getenv("FOREMAN_HARNESS_URL"))
		os.Exit(5)
	}
	http.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("GET /facts", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "root writable:", os.WriteFile("/here", nil, 0o600) == nil)
		fmt.Fprintln(w, "tmp writable:", os.WriteFile("/tmp/here", nil, 0o600) == nil)
		fmt.Fprintln(w, "key:", os.Getenv("KEY"))
		fmt.Fprintln(w, "both addresses:", os.Getenv("NIGHT_BROWNIE_URL") == os.Getenv("FOREMAN_HARNESS_URL"))
		status, _ := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			switch name, _, _ := strings.Cut(line, ":"); name {
			case "CapEff", "NoNewPrivs", "Uid", "Gid":
				fmt.Fprint(w, line)
			}
		}
	})
	http.HandleFunc("GET /exit", func(http.ResponseWriter, *http.Request) {
		fmt.Println("I was asked to end; my key is", os.Getenv("KEY"))
		os.Exit(3)
	})
	fmt.Println(http.ListenAndServe(":8000", nil))
	os.Exit(6)
}

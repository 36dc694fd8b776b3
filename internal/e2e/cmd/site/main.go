// Command site builds the playground: the static page with the rule engine in WebAssembly, the
// part of Go's distribution that starts it, and the examples with their files.
//
//	site -root ../.. -out DIR [-serve 127.0.0.1:8080]
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	fl := flag.NewFlagSet("site", flag.ContinueOnError)
	root := fl.String("root", "../..", "`DIR` of the repository")
	out := fl.String("out", "", "`DIR` to write the site to")
	serve := fl.String("serve", "", "loopback `ADDRESS` to serve the site on; empty: it is only built")
	if err := fl.Parse(args); err != nil {
		return err
	}
	if *out == "" || fl.NArg() > 0 {
		return errors.New("name the directory to write to: -out DIR")
	}
	size, err := build(*root, *out)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "wrote %s; the engine has %d bytes\n", *out, size)
	if *serve == "" {
		return nil
	}
	return serveOn(*serve, *out, stdout)
}

// pageFiles are copied as they are.
var pageFiles = []string{"index.html", "style.css", "page.js", "engine.js", "link.js", "worker.js"}

// build writes the site, and returns the size of the engine as it is sent.
func build(root, out string) (int, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, err
	}
	for _, name := range pageFiles {
		if err := copyFile(filepath.Join(root, "site", name), filepath.Join(out, name)); err != nil {
			return 0, err
		}
	}
	goroot, err := output(root, nil, "go", "env", "GOROOT")
	if err != nil {
		return 0, err
	}
	if err := copyFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"), filepath.Join(out, "wasm_exec.js")); err != nil {
		return 0, err
	}
	list, err := examples(root)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(out, "examples.json"), list, 0o644); err != nil {
		return 0, err
	}
	return engine(root, out)
}

// engine compiles the engine and writes it compressed.
func engine(root, out string) (int, error) {
	dir, err := os.MkdirTemp("", "foreman-site-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "engine.wasm")
	if _, err := output(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", plain, "./site/playground"); err != nil {
		return 0, err
	}
	data, err := os.ReadFile(plain)
	if err != nil {
		return 0, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return packed.Len(), os.WriteFile(filepath.Join(out, "engine.bin"), packed.Bytes(), 0o644)
}

// output runs a command in a directory with additional environment variables, and returns its
// output.
func output(dir string, env []string, name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	return data, nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// examples returns the list of the page with the files that site/examples.json names.
func examples(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, "site", "examples.json"))
	if err != nil {
		return nil, err
	}
	var list []struct {
		Title   string          `json:"title"`
		Rules   string          `json:"rules"`
		Event   string          `json:"event"`
		Payload string          `json:"payload"`
		Issue   json.RawMessage `json:"issue,omitempty"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("site/examples.json: %w", err)
	}
	for i := range list {
		for _, file := range []*string{&list[i].Rules, &list[i].Payload} {
			if *file == "" {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, *file))
			if err != nil {
				return nil, fmt.Errorf("site/examples.json: %q: %w", list[i].Title, err)
			}
			*file = string(content)
		}
	}
	return json.Marshal(list)
}

// serveOn serves a folder to this machine alone, until the program is stopped.
func serveOn(address, dir string, stdout io.Writer) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("-serve: %w", err)
	}
	if ip := net.ParseIP(cmp.Or(host, "0.0.0.0")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-serve: %s is not an address of this machine alone, such as 127.0.0.1:8080", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("-serve: %w", err)
	}
	fmt.Fprintf(stdout, "http://%s/\n", l.Addr())
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
}

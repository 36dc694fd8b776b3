// Command site builds the project's website: the documentation from its Markdown files, with a
// search, and the playground.
//
//	site -root ../.. -out DIR [-repository OWNER/NAME] [-commit COMMIT] [-serve 127.0.0.1:8080 [-open playground/]]
//
// docs/rules.md becomes docs/rules.html. Links to other files lead to the repository at COMMIT;
// without -repository they become plain text.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string, stdout io.Writer) error {
	fl := flag.NewFlagSet("site", flag.ContinueOnError)
	root := fl.String("root", "../..", "`DIR` of the repository")
	out := fl.String("out", "", "`DIR` to write the site to")
	repository := fl.String("repository", getenv("GITHUB_REPOSITORY"), "`OWNER/NAME` of the repository that links to files lead to; empty: such links are text")
	commit := fl.String("commit", getenv("GITHUB_SHA"), "`COMMIT` that links to files lead to; empty: that of the checkout")
	serve := fl.String("serve", "", "loopback `ADDRESS` to serve the site on, or the next free port after it; empty: only build it")
	open := fl.String("open", "", "`PAGE` to print the address of, and to open in a browser, with -serve")
	if err := fl.Parse(args); err != nil {
		return err
	}
	switch {
	case fl.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: there are flags only", fl.Arg(0))
	case *out == "":
		return errors.New("name the directory to write to: -out DIR")
	}
	source := ""
	if *repository != "" {
		if *commit == "" {
			head, err := output(*root, nil, "git", "rev-parse", "HEAD")
			if err != nil {
				return err
			}
			*commit = strings.TrimSpace(string(head))
		}
		source = cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com") + "/" + *repository
	}
	pages, err := newSite(os.DirFS(*root), repositoryLinks{source, *commit})
	if err != nil {
		return err
	}
	if err := pages.write(*out); err != nil {
		return err
	}
	size, err := buildPlayground(*root, filepath.Join(*out, "playground"))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "wrote %s; it has %d pages, and the engine has %d bytes\n", *out, 1+len(pages.order), size)
	if source == "" {
		fmt.Fprintln(stdout, "links to files of the repository are text: name it with -repository OWNER/NAME")
	}
	if *serve == "" {
		return nil
	}
	l, err := listen(*serve)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("http://%s/%s", l.Addr(), *open)
	fmt.Fprintln(stdout, address)
	if *open != "" {
		show(getenv, address)
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(*out)), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(l)
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

// ports is how many ports listen tries.
const ports = 20

// listen listens on an address of this machine alone. If its port is busy, it tries the next ones.
func listen(address string) (net.Listener, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("-serve: %w", err)
	}
	if ip := net.ParseIP(cmp.Or(host, "0.0.0.0")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("-serve: %s is not an address of this machine alone, such as 127.0.0.1:8080", address)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-serve: %w", err)
	}
	for n := range uint64(ports) {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.FormatUint(port+n, 10))); !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return nil, fmt.Errorf("-serve: the ports from %d to %d are busy: %w", port, port+ports-1, err)
}

// show opens an address in the browser of the desktop, if there is one. The address is printed
// anyway, so a failure is no error.
func show(getenv func(string) string, address string) {
	var cmd *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		cmd = exec.Command("open", address)
	case runtime.GOOS == "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		cmd = exec.Command("xdg-open", address)
	default:
		return
	}
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // its exit code says nothing about the browser
	}
}

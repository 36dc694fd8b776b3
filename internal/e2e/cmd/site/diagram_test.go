package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestDiagrams: what a diagram may contain, and the mistakes.
func TestDiagrams(t *testing.T) {
	t.Parallel()
	const src = "flowchart LR\n  a[\"one <b>\"] -- \"to: b\" --> b --> c\n  c -- back again --> a\n"
	d, err := parseDiagram(src)
	if want := "Diagram: one <b> (to: b) to b; b to c; c (back again) to one <b>"; err != nil || d.String() != want {
		t.Errorf("got %v, %v, want %s", d, err, want)
	}
	svg, err := d.svg(t.Context())
	for _, part := range []string{`role="img"`, ">one &lt;b&gt;</text>", ">back again</text>", "<path "} {
		if err != nil || !strings.Contains(svg, part) {
			t.Errorf("the drawing lacks %s: %v", part, err)
		}
	}
	for src, want := range map[string]string{
		"sequenceDiagram\na->>b: x":    "line 1: want flowchart LR or flowchart TD",
		"flowchart LR\na --> b\n{x}":   "line 3: want a node",
		"flowchart TD\na ==> b":        "line 2: want an arrow",
		"flowchart LR\na -- x --> (b)": "line 2: want a node",
	} {
		if _, err := parseDiagram(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

// TestListen: a busy port gets the next one; only this machine is served.
func TestListen(t *testing.T) {
	t.Parallel()
	busy, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	l, err := listen(busy.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, got := busy.Addr().(*net.TCPAddr).Port, l.Addr().(*net.TCPAddr).Port
	if got <= from || got >= from+ports {
		t.Errorf("port %d is busy, and %d is used", from, got)
	}
	for _, address := range []string{"0.0.0.0:8080", ":8080", "127.0.0.1:x", "localhost"} {
		if l, err := listen(address); err == nil {
			l.Close()
			t.Error(fmt.Sprint(address, " is served"))
		}
	}
}

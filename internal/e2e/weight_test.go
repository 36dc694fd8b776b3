package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The most bytes that the image may have.
const (
	maxImage      = 16_500_000
	maxCompressed = 6_500_000
)

// weigh saves the image, and checks the size and the content of its layers.
func weigh(t *testing.T, image string) {
	saved := filepath.Join(t.TempDir(), "image.tar")
	output(t, ".", "docker", "save", "-o", saved, image)
	entries := untar(t, read(t, saved))
	var manifest []struct{ Layers []string }
	if err := json.Unmarshal(entries["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("manifest of the saved image: %v, %d images", err, len(manifest))
	}
	var layers [][]byte
	for _, name := range manifest[0].Layers {
		layers = append(layers, entries[name])
	}
	weighLayers(t, layers)

	config := output(t, ".", "docker", "image", "inspect", image, "--format", `{{json .Config.Entrypoint}} user={{json .Config.User}}`)
	if want := `["/foreman"] user=""`; config != want {
		t.Errorf("got the configuration %s, want %s", config, want)
	}
}

// weighLayers checks the size of uncompressed layers, and the files in them.
func weighLayers(t *testing.T, layers [][]byte) {
	t.Helper()
	var size, compressed int
	var names []string
	for _, layer := range layers {
		size += len(layer)
		compressed += gzipped(t, layer)
		names = append(names, contents(t, layer)...)
	}
	t.Logf("image: %d bytes, %d with gzip -9", size, compressed)
	if size > maxImage {
		t.Errorf("the image weighs %d bytes, want at most %d", size, maxImage)
	}
	if compressed > maxCompressed {
		t.Errorf("the compressed image weighs %d bytes, want at most %d", compressed, maxCompressed)
	}
	slices.Sort(names)
	want := []string{"-rw-r--r-- etc/ssl/certs/ca-certificates.crt", "-rwxr-xr-x foreman", "dtrwxrwxrwx tmp"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

func gzipped(t *testing.T, content []byte) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// contents lists the files and empty folders of a layer, each with its mode. It also checks that
// the program is linked statically.
func contents(t *testing.T, layer []byte) []string {
	t.Helper()
	var names []string
	walk(t, layer, func(h *tar.Header, body []byte) {
		mode, name := h.FileInfo().Mode(), strings.Trim(h.Name, "./")
		if mode.IsDir() && name != "tmp" {
			return
		}
		names = append(names, mode.String()+" "+name)
		if name == "foreman" {
			static(t, body)
		}
	})
	return names
}

// static fails the test for a program that is linked dynamically.
func static(t *testing.T, program []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program is linked dynamically")
		}
	}
	if f.Section(".symtab") != nil {
		t.Error("the program is not stripped")
	}
}

func untar(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	entries := map[string][]byte{}
	walk(t, archive, func(h *tar.Header, body []byte) { entries[h.Name] = body })
	return entries
}

func walk(t *testing.T, archive []byte, visit func(*tar.Header, []byte)) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		visit(h, body)
	}
}

// pack makes the layer that the Dockerfile would make for a program. It is for machines without an
// engine.
func pack(t *testing.T, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, mode fs.FileMode, content []byte) {
		h := &tar.Header{Name: name, Mode: int64(mode.Perm()), Size: int64(len(content)), Typeflag: tar.TypeReg}
		if mode.IsDir() {
			h.Typeflag, h.Mode = tar.TypeDir, 0o1777
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	add("foreman", 0o755, read(t, program))
	if certificates, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt"); err == nil {
		add("etc/ssl/certs/ca-certificates.crt", 0o644, certificates)
	}
	add("tmp/", fs.ModeDir, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

package image_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/image"
)

// write assembles an image of programs that are small texts.
func write(t *testing.T, s image.Spec, r image.Release) (folder, digest string) {
	t.Helper()
	programs := t.TempDir()
	for _, platform := range image.Platforms() {
		path := filepath.Join(programs, entry.File(s.Program, platform))
		if err := os.WriteFile(path, []byte("program for "+platform), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder = filepath.Join(t.TempDir(), "layout")
	digest, err := image.Write(folder, s, r, image.Platforms(), programs)
	if err != nil {
		t.Fatal(err)
	}
	return folder, digest
}

var release = image.Release{
	Version: "v1.2.3", Revision: "abc", Source: "https://github.com/org/foreman-action",
	Created: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
}

func TestWrite(t *testing.T) {
	t.Parallel()
	folder, digest := write(t, image.Server(), release)
	if err := image.Check(folder, digest, image.Platforms()); err != nil {
		t.Error(err)
	}
	if _, again := write(t, image.Server(), release); again != digest {
		t.Errorf("got %s and %s from the same programs", digest, again)
	}
	later := release
	later.Version = "v1.2.4"
	if _, other := write(t, image.Server(), later); other == digest {
		t.Error("another version has the same digest")
	}
	img := platform(t, folder, "arm64")
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != "arm64" || config.OS != "linux" || config.Config.User != "65532:65532" ||
		config.Config.WorkingDir != "/var/lib/foremand" || config.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("got the configuration %+v", config)
	}
	if diff := cmp.Diff([]string{"/foremand"}, config.Config.Entrypoint); diff != "" {
		t.Error(diff)
	}
	// The databases lie below the home folder by default, which the user may write to.
	if diff := cmp.Diff([]string{"HOME=/var/lib/foremand", "XDG_STATE_HOME=/var/lib/foremand"}, config.Config.Env); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"-rw-r--r-- 0 etc/ssl/certs/ca-certificates.crt", "-rwxr-xr-x 0 foremand", "drwxr-x--- 65532 var/lib/foremand/",
		"drwxr-xr-x 0 etc/", "drwxr-xr-x 0 etc/ssl/", "drwxr-xr-x 0 etc/ssl/certs/", "drwxr-xr-x 0 var/", "drwxr-xr-x 0 var/lib/",
		"dtrwxrwxrwx 0 tmp/",
	}
	if diff := cmp.Diff(want, listing(t, img)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// The runner pulls the action's image without a login and runs /foreman as root.
func TestAction(t *testing.T) {
	t.Parallel()
	folder, _ := write(t, image.Action(), release)
	config, err := platform(t, folder, "amd64").ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "" || len(config.Config.Entrypoint) != 1 || config.Config.Entrypoint[0] != "/foreman" {
		t.Errorf("got the configuration %+v", config.Config)
	}
}

func platform(t *testing.T, folder, machine string) v1.Image {
	t.Helper()
	all, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture == machine {
			img, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	t.Fatalf("no image for %s", machine)
	return nil
}

// listing returns the files of an image, sorted, with mode and owner.
func listing(t *testing.T, img v1.Image) []string {
	t.Helper()
	stream := mutate.Extract(img)
	defer stream.Close()
	var list []string
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := h.Name
		if h.Typeflag == tar.TypeDir {
			name = strings.TrimSuffix(name, "/") + "/"
		}
		list = append(list, h.FileInfo().Mode().String()+" "+strconv.Itoa(h.Uid)+" "+name)
		if strings.HasSuffix(name, ".crt") && h.Size < 100_000 {
			t.Errorf("the CA bundle has %d bytes only", h.Size)
		}
	}
	slices.Sort(list)
	return list
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	name := entry.Repository{Owner: "Octo-Org", Name: "foreman-action"}.Image(host, "foreman-action")
	folder, digest := write(t, image.Action(), release)
	var r image.Registry
	if err := r.Exists(t.Context(), name, digest); err == nil || !strings.Contains(err.Error(), "cannot be pulled without a login") {
		t.Errorf("before the push: got the error %v", err)
	}
	if err := r.Push(t.Context(), folder, name, "v1.2.3", authn.Anonymous); err != nil {
		t.Fatal(err)
	}
	if err := r.Exists(t.Context(), name, digest); err != nil {
		t.Error(err)
	}
	other := "sha256:" + strings.Repeat("12", 32)
	if err := r.Exists(t.Context(), name, other); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("another digest: got the error %v", err)
	}
}

// A registry that confirms a digest, and sends another manifest or none for it, does not have the
// image. No login is sent.
func TestExistsPulls(t *testing.T) {
	t.Parallel()
	folder, digest := write(t, image.Action(), release)
	tests := []struct {
		name string
		get  func(http.ResponseWriter, []byte)
		want string // empty: it can be pulled
	}{
		{"the manifest", func(w http.ResponseWriter, manifest []byte) { _, _ = w.Write(manifest) }, ""},
		{"another manifest", func(w http.ResponseWriter, manifest []byte) {
			_, _ = w.Write(bytes.Replace(manifest, []byte("amd64"), []byte("arm64"), 1))
		}, digest},
		{"private", func(w http.ResponseWriter, _ []byte) { http.Error(w, "denied", http.StatusUnauthorized) }, "cannot be pulled without a login"},
		{"gone", func(w http.ResponseWriter, _ []byte) { http.Error(w, "gone", http.StatusNotFound) }, "cannot be pulled without a login"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			manifest, err := os.ReadFile(filepath.Join(folder, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:")))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if login := r.Header.Get("Authorization"); login != "" {
					t.Errorf("%s %s sends the login %q", r.Method, r.URL, login)
				}
				w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
				w.Header().Set("Docker-Content-Digest", digest)
				switch {
				case r.URL.Path == "/v2/":
				case r.Method == http.MethodHead:
					w.Header().Set("Content-Length", strconv.Itoa(len(manifest)))
				default:
					tt.get(w, manifest)
				}
			}))
			t.Cleanup(server.Close)
			name := strings.TrimPrefix(server.URL, "http://") + "/octo-org/foreman-action"
			err = image.Registry{}.Exists(t.Context(), name, digest)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got the error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	folder, digest := write(t, image.Action(), release)
	if err := image.Check(folder, "sha256:"+strings.Repeat("12", 32), image.Platforms()); err == nil {
		t.Error("another digest: want an error")
	}
	if err := image.Check(folder, digest, []string{"linux-amd64"}); err == nil {
		t.Error("other platforms: want an error")
	}
	largest, size := "", int64(0)
	blobs := filepath.Join(folder, "blobs", "sha256")
	entries, err := os.ReadDir(blobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > size {
			largest, size = filepath.Join(blobs, e.Name()), info.Size()
		}
	}
	content, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(largest, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := image.Check(folder, digest, image.Platforms()); err == nil {
		t.Error("a changed layer: want an error")
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const dir = "../../../../docs/pictures"

// TestPictures compares each picture with the text that it was made of: the page with the
// Markdown, and the digest in the picture with the page.
func TestPictures(t *testing.T) {
	t.Parallel()
	pictures, err := filepath.Glob(dir + "/*.png")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("%d pictures, %v", len(pictures), err)
	}
	for _, path := range pictures {
		name := strings.TrimSuffix(path, ".png")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{}
			for _, ext := range []string{".markdown", ".html", ".png"} {
				data, err := os.ReadFile(name + ext)
				if err != nil {
					t.Fatal(err)
				}
				files[ext] = data
			}
			page, err := render(files[".markdown"])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(page, files[".html"]) {
				t.Errorf("%s.html is not what %s.markdown renders to; run make pictures", name, name)
			}
			sum := sha256.Sum256(files[".html"])
			if got := sourceOf(files[".png"]); got != hex.EncodeToString(sum[:]) {
				t.Errorf("%s.png was made of another page (%s); run make pictures", name, got)
			}
			c, err := png.DecodeConfig(bytes.NewReader(files[".png"]))
			if err != nil || c.Width != width || c.Height < 200 {
				t.Errorf("%s.png: %d × %d, %v", name, c.Width, c.Height, err)
			}
		})
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	if got := sourceOf(b.Bytes()); got != "" {
		t.Errorf("without a source: got %q", got)
	}
	with, err := withSource(b.Bytes(), []byte("page"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("page"))
	if got := sourceOf(with); got != hex.EncodeToString(sum[:]) {
		t.Errorf("got %q", got)
	}
	if _, err := png.Decode(bytes.NewReader(with)); err != nil {
		t.Errorf("the picture is broken: %v", err)
	}
	for n := range with {
		_ = sourceOf(with[:n]) // no panic
	}
	if _, err := withSource([]byte("GIF89a"), nil); err == nil {
		t.Error("no error for a picture that is no PNG")
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	page, err := render([]byte("## A\n\n| a |\n|---|\n| 1 |\n\n<details><summary>More</summary>\n\nx\n\n</details>\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2", "<td>1</td>", "<details open><summary>More</summary>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

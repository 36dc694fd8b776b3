package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const dir = "../../../docs/pictures"

// maxSize is the most bytes that a picture may have.
const maxSize = 250_000

// TestPictures compares the digest in each picture with the text beside it. The text is NAME.html,
// the whole page, or NAME.txt, its outline. Every such text must have a picture.
func TestPictures(t *testing.T) {
	t.Parallel()
	sources := map[string]string{} // texts by the name of their picture
	for _, ending := range []string{".html", ".txt"} {
		list, err := filepath.Glob(dir + "/*" + ending)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list {
			sources[strings.TrimSuffix(path, ending)] = path
		}
	}
	pictures, err := filepath.Glob(dir + "/*.png")
	if err != nil || len(pictures) != len(sources) || len(pictures) < 4 {
		t.Fatalf("%d pictures of %d texts, %v", len(pictures), len(sources), err)
	}
	for _, path := range pictures {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := sources[strings.TrimSuffix(path, ".png")]
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := SourceOf(data); got != Digest(source) {
				t.Errorf("%s was not made of %s, but of a text with the digest %q; run make pictures", path, name, got)
			}
			c, err := png.DecodeConfig(bytes.NewReader(data))
			if err != nil || c.Width < 1600 || c.Height < 400 || len(data) > maxSize {
				t.Errorf("%s: %d × %d, %d bytes, %v", path, c.Width, c.Height, len(data), err)
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
	if got := SourceOf(b.Bytes()); got != "" {
		t.Errorf("without a source: got %q", got)
	}
	with, err := WithSource(b.Bytes(), []byte("page"))
	if err != nil {
		t.Fatal(err)
	}
	if got := SourceOf(with); got != Digest([]byte("page")) || got == Digest([]byte("pages")) {
		t.Errorf("got %q", got)
	}
	if _, err := png.Decode(bytes.NewReader(with)); err != nil {
		t.Errorf("the picture is broken: %v", err)
	}
	for n := range with {
		_ = SourceOf(with[:n]) // must not panic
	}
	if _, err := WithSource([]byte("GIF89a"), nil); err == nil {
		t.Error("no error for a picture that is no PNG")
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	// Half of the picture is white. The rest has 400 shades of grey and blue, and one green pixel.
	from := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for i := range 800 {
		c := color.RGBA{255, 255, 255, 255}
		if i < 400 {
			c = color.RGBA{uint8(i % 200), uint8(i % 200), uint8(i / 2), 255}
		}
		from.Set(i%40, i/40, c)
	}
	green := color.RGBA{17, 99, 41, 255}
	from.Set(0, 0, green)
	var b bytes.Buffer
	if err := png.Encode(&b, from); err != nil {
		t.Fatal(err)
	}
	data, err := Compact(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := got.(*image.Paletted); !ok || len(p.Palette) != 128 || got.Bounds() != from.Bounds() {
		t.Errorf("got %T of %v", got, got.Bounds())
	}
	if c := color.RGBAModel.Convert(got.At(39, 19)); c != from.At(39, 19) {
		t.Errorf("the most frequent colour: got %v, want %v", c, from.At(39, 19))
	}
	if c := color.RGBAModel.Convert(got.At(0, 0)); c != color.Color(green) {
		t.Errorf("the rarest colour: got %v, want %v", c, green)
	}
	if _, err := Compact([]byte("GIF89a")); err == nil {
		t.Error("no error for a picture that is no PNG")
	}
}

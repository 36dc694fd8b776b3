package process

import (
	"errors"
	"slices"
)

// A Colour is the value of the flag --color: auto, always or never. The zero value is auto.
type Colour struct{ when string }

// auto is the value that leaves the choice to the environment.
const auto = "auto"

// Colours returns the values of --color.
func Colours() []string { return []string{auto, "always", "never"} }

// Set sets the value, for the parser of flags.
func (c *Colour) Set(when string) error {
	if !slices.Contains(Colours(), when) {
		return errors.New("want auto, always or never")
	}
	c.when = when
	return nil
}

// String returns the value.
func (c *Colour) String() string {
	if c.when == "" {
		return auto
	}
	return c.when
}

// Type returns the name of the value in the help.
func (*Colour) Type() string { return "when" }

// Coloured reports whether Stdout shows ANSI colours. The flag --color counts most. Then come the
// variables NO_COLOR, FORCE_COLOR and TERM=dumb, of which the first one that is set decides. Else a
// terminal has colours.
func (e Env) Coloured() bool {
	when := auto
	if e.Colour != nil {
		when = e.Colour.String()
	}
	switch {
	case when != auto:
		return when == "always"
	case e.Getenv("NO_COLOR") != "":
		return false
	case e.Getenv("FORCE_COLOR") != "":
		return true
	}
	return e.OutTerminal && e.Getenv("TERM") != "dumb"
}

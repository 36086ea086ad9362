package replcmd

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/term"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                              nil,
		"  click 12 ":                   {"click", "12"},
		`type 3 'it''s' "a \"b\" \c"`:   {"type", "3", "its", `a "b" \c`},
		`fill 3 ""`:                     {"fill", "3", ""},
		`a\ b c # comment`:              {"a b", "c"},
		"# only a comment":              nil,
		"goto https://a.example/#there": {"goto", "https://a.example/#there"},
	} {
		if got, err := Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", line, got, err)
		}
	}
	for _, line := range []string{`"a`, "a 'b"} {
		if _, err := Split(line); err == nil {
			t.Errorf("%q is split", line)
		}
	}
}

func FuzzSplitNeverPanics(f *testing.F) {
	f.Add(`a "b\" 'c' \ #`)
	f.Fuzz(func(t *testing.T, line string) { _, _ = Split(line) })
}

func TestCommonPrefix(t *testing.T) {
	if got := commonPrefix("größe", "grün"); got != "gr" {
		t.Errorf("got %q", got)
	}
}

// TestCtrlCClearsTheLine types into a terminal like a user. up is the arrow key.
func TestCtrlCClearsTheLine(t *testing.T) {
	const up = "\x1b[A"
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{lineClearer{strings.NewReader("tabs\rsnap\x03\x03stop\x1b[D\x03" + up + "\r")}, io.Discard}, promptText)
	terminal.History = history{terminal.History}
	for i, want := range []string{"tabs", "", "", "", "tabs"} {
		if line, err := terminal.ReadLine(); err != nil || line != want {
			t.Errorf("line %d is %q, %v, want %q", i, line, err, want)
		}
	}
	if line, err := terminal.ReadLine(); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v, want the end", line, err)
	}
}

// TestAQuotedNumberIsAText splits lines whose targets are numbers. Quoted numbers are texts, the others are refs.
func TestAQuotedNumberIsAText(t *testing.T) {
	for line, want := range map[string][]string{
		`click "119"`:             {"click", "--text", "119"},
		`domtap dblclick '7' --x`: {"dblclick", "--text", "7", "--x"},
		`click 119`:               {"click", "119"},
		`click button "119"`:      {"click", "button", "119"},
		`press "7"`:               {"press", "7"},
		`fill "7" 12`:             {"fill", "--text", "7", "12"},
	} {
		if got, err := commandOf(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}

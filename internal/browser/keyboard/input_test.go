package keyboard

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
)

// typedBy returns the text that events enter, and the number of keys that stay down.
func typedBy(t *testing.T, events []Event) (text string, down int) {
	t.Helper()
	var b strings.Builder
	held := map[string]bool{}
	for _, e := range events {
		switch {
		case e.Key == nil:
			b.WriteString(e.Text)
		case e.Key.Type == input.DispatchKeyEventTypeKeyUp:
			if !held[e.Key.Code] {
				t.Errorf("%s goes up without having gone down", e.Key.Code)
			}
			delete(held, e.Key.Code)
		default:
			held[e.Key.Code] = true
			b.WriteString(e.Key.Text)
		}
	}
	return b.String(), len(held)
}

func TestTextIsTypedAsItStands(t *testing.T) {
	for _, text := range []string{"", "aZ09 ~!?", "tab\tline\nend", "Grüße, 世界 👋 ok", strings.Repeat("é1", 300), "\u0000\ufeff"} {
		checkTyped(t, text)
	}
}

// FuzzTextIsTypedAsItStands checks that the typed text equals the input and that no key stays down.
func FuzzTextIsTypedAsItStands(f *testing.F) {
	f.Add("Grüße, 世界 👋\r\nok")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			checkTyped(t, text)
		}
	})
}

func checkTyped(t *testing.T, text string) {
	t.Helper()
	got, down := typedBy(t, Text(text))
	line := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "")
	if line.Replace(got) != line.Replace(text) || down != 0 {
		t.Errorf("%q is typed as %q, with %d keys left down", text, got, down)
	}
}

func TestChordsAreHeldAndLetGo(t *testing.T) {
	for _, c := range []struct {
		chord string
		mac   bool
		want  string
	}{
		{"a", false, "a+KeyA0 a-KeyA0"},
		{"Control+a", false, "Control+ControlLeft2 a+KeyA2 a-KeyA2 Control-ControlLeft0"},
		{"Control+A", false, "Control+ControlLeft2 a+KeyA2 a-KeyA2 Control-ControlLeft0"},
		{"Control+Shift+A", false, "Control+ControlLeft2 Shift+ShiftLeft10 A+KeyA10 A-KeyA10 Shift-ShiftLeft2 Control-ControlLeft0"},
		{"A", false, "A+KeyA8 A-KeyA8"},
		{"ControlOrMeta+a", true, "Meta+MetaLeft4 a+KeyA4(selectAll) a-KeyA4 Meta-MetaLeft0"},
		{"Control++", false, "Control+ControlLeft2 ++Equal10 +-Equal10 Control-ControlLeft0"},
		{"Shift+Tab", false, "Shift+ShiftLeft8 Tab+Tab8 Tab-Tab8 Shift-ShiftLeft0"},
		{"Shift", false, "Shift+ShiftLeft8 Shift-ShiftLeft0"},
		{"Space", false, " +Space0  -Space0"},
		{"ShiftRight", false, "Shift+ShiftRight8 Shift-ShiftRight0"},
	} {
		events, err := Chord(c.chord, c.mac)
		if err != nil {
			t.Errorf("%s: %v", c.chord, err)
			continue
		}
		var got []string
		for _, e := range events {
			sign := "+"
			if e.Key.Type == input.DispatchKeyEventTypeKeyUp {
				sign = "-"
			}
			one := e.Key.Key + sign + e.Key.Code + string(rune('0'+e.Key.Modifiers))
			if e.Key.Modifiers == 10 {
				one = e.Key.Key + sign + e.Key.Code + "10"
			}
			if len(e.Key.Commands) > 0 {
				one += "(" + strings.Join(e.Key.Commands, ",") + ")"
			}
			got = append(got, one)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.chord, text, c.want)
		}
	}
}

func TestBadChordsAreRefused(t *testing.T) {
	for _, chord := range []string{"", "Entr", "Hyper+a", "Control+Control+a", "a+b", "Control+é", "Control+"} {
		if events, err := Chord(chord, false); err == nil {
			t.Errorf("%q is %d events", chord, len(events))
		}
	}
}

// FuzzChordsLeaveNoKeyDown checks that every valid chord releases all its keys.
func FuzzChordsLeaveNoKeyDown(f *testing.F) {
	f.Add("Control+Shift+a", true)
	f.Fuzz(func(t *testing.T, chord string, mac bool) {
		events, err := Chord(chord, mac)
		if err != nil {
			return
		}
		if _, down := typedBy(t, events); down != 0 {
			t.Errorf("%q leaves %d keys down", chord, down)
		}
	})
}

// TestUsesClipboard distinguishes chords that copy or paste from others.
func TestUsesClipboard(t *testing.T) {
	copies, pastes := ClipboardUse{Copies: true}, ClipboardUse{Pastes: true}
	for chord, want := range map[string]ClipboardUse{
		"Control+c": copies, "Control+C": copies, "Meta+x": copies, "ControlOrMeta+KeyC": copies, "Control+Insert": copies, "Shift+Delete": copies,
		"Control+v": pastes, "Control+Shift+v": pastes, "Meta+KeyV": pastes, "Shift+Insert": pastes, "Control+Shift+Insert": {true, true},
		"c": {}, "v": {}, "Shift+V": {}, "Alt+v": {}, "Insert": {}, "Delete": {}, "Control+a": {}, "Control+Delete": {}, "Control+nothing": {}, "": {},
	} {
		for _, mac := range []bool{false, true} {
			if got := UsesClipboard(chord, mac); got != want {
				t.Errorf("%q, mac %v: %v, want %v", chord, mac, got, want)
			}
		}
	}
}

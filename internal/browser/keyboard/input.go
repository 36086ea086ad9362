// Package keyboard translates a text or a chord of keys into the browser's keyboard events. It is pure and sends nothing.
//
// The keyboard has the US layout. Characters without a key are inserted as by an input method.
package keyboard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
)

// Modifier bits in an event.
const (
	Alt     int64 = 1
	Control int64 = 2
	Meta    int64 = 4
	Shift   int64 = 8
)

// modifierBits maps the names of modifiers to their bits.
var modifierBits = map[string]int64{"Alt": Alt, "Control": Control, "Meta": Meta, "Shift": Shift}

// Modifiers returns the bits of named modifiers. For an unknown name, the error lists the valid names.
func Modifiers(names []string) (int64, error) {
	var bits int64
	for _, name := range names {
		bit, known := modifierBits[name]
		if !known {
			return 0, fmt.Errorf("unknown modifier %.20q: use Alt, Control, Meta or Shift", name)
		}
		bits |= bit
	}
	return bits, nil
}

// Event is one event to send: a key event, or, if Key is nil, a Text that an input method inserts.
type Event struct {
	Key  *input.DispatchKeyEventParams
	Text string
	// Composed is set if Text is written with an input method that shows a composition.
	Composed bool
}

// maxKeys limits how many characters are typed key by key. Longer text is inserted as by a paste.
const maxKeys = 200

// Text returns the events that type a text. A line break is the Enter key, unless the text is so long that it is inserted in one piece.
func Text(text string) []Event {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if utf8.RuneCountInString(text) > maxKeys {
		return []Event{{Text: text}}
	}
	return Typed(text)
}

// Typed returns the events that type a text of any length key by key.
func Typed(text string) []Event {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var events []Event
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if s, ok := typed(r); ok {
			var bits int64
			if s.shift {
				bits = Shift
			}
			events = append(events, Event{Key: s.down(bits)}, Event{Key: s.up(bits)})
			text = text[size:]
			continue
		}
		run, composed := inserted(text)
		events = append(events, Event{Text: run, Composed: composed})
		text = text[len(run):]
	}
	return events
}

// Framed returns the events that insert a text in one piece while a key is held. The key is the key of the last character, or the key code
// of input methods if no key types that character. The key itself inserts nothing.
func Framed(text string) []Event {
	s := stroke{key: key{name: "Process", vk: inputMethodKey}}
	var bits int64
	if r, _ := utf8.DecodeLastRuneInString(text); r >= ' ' {
		if known, ok := typed(r); ok {
			s = known
			if s.shift {
				bits = Shift
			}
		}
	}
	down := s.event(bits)
	down.Type = input.DispatchKeyEventTypeRawKeyDown
	return []Event{{Key: down}, {Text: text}, {Key: s.up(bits)}}
}

// inputMethodKey is the key code for keys that an input method handles.
const inputMethodKey = 229

// typed returns the key for a character.
func typed(r rune) (stroke, bool) {
	switch r {
	case '\n', '\r':
		return keyboard()["Enter"], true
	case '\t':
		return keyboard()["Tab"], true
	}
	if r < 0x20 || r > 0x7e {
		return stroke{}, false
	}
	s, ok := keyboard()[string(r)]
	return s, ok
}

// inserted returns the longest prefix of a text that no key types and whose characters are all composed or all not composed.
func inserted(text string) (run string, composed bool) {
	for i, r := range text {
		if _, ok := typed(r); ok {
			return text[:i], composed
		}
		if i == 0 {
			composed = isComposed(r)
		} else if isComposed(r) != composed {
			return text[:i], composed
		}
	}
	return text, composed
}

// isComposed reports whether a character belongs to a script that is written with an input method.
func isComposed(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi)
}

// Chord returns the events that press and release the keys of a chord such as "Control+a", "Shift+Tab" or "+". "Control+A" is the same as
// "Control+a". mac adds the editing commands that the system provides on a Mac.
func Chord(chord string, mac bool) ([]Event, error) {
	modifiers, key := splitChord(chord)
	var events []Event
	var bits int64
	var down []stroke
	for _, name := range modifiers {
		if name == "ControlOrMeta" {
			name = "Control"
			if mac {
				name = "Meta"
			}
		}
		bit := modifierBits[name]
		if bit == 0 || bits&bit != 0 {
			return nil, fmt.Errorf("in %.40q, %.20q is not a modifier or is repeated: use Alt, Control, ControlOrMeta, Meta or Shift, then one key", chord, name)
		}
		bits |= bit
		s := keyboard()[name]
		events = append(events, Event{Key: s.down(bits)})
		down = append(down, s)
	}
	if bits&^Shift != 0 && len(key) == 1 && 'A' <= key[0] && key[0] <= 'Z' {
		key = strings.ToLower(key) // a shortcut is written Control+A, but pressed without Shift
	}
	s, known := keyboard()[key]
	switch {
	case known:
		events = append(events, s.press(bits, mac)...)
	case utf8.RuneCountInString(key) == 1 && bits == 0:
		_, composed := inserted(key)
		return []Event{{Text: key, Composed: composed}}, nil
	default:
		return nil, fmt.Errorf("unknown key %.30q: use one character or a name such as Enter, Tab, Escape, ArrowDown, F5, KeyA, Numpad1", key)
	}
	for i := len(down) - 1; i >= 0; i-- {
		bits &^= modifierBits[down[i].name]
		events = append(events, Event{Key: down[i].up(bits)})
	}
	return events, nil
}

// Held splits the events of a chord at the press of its key: the events up to the press, and the events that release all keys. repeat is
// the press with AutoRepeat, as a keyboard sends it while the key is held. ok is false for a chord of a character that no key types, which
// cannot be held.
func Held(chord []Event) (press []Event, repeat Event, rest []Event, ok bool) {
	for i := len(chord) - 1; i >= 0; i-- {
		if key := chord[i].Key; key != nil && key.Type != input.DispatchKeyEventTypeKeyUp {
			again := *key
			again.AutoRepeat = new(true)
			return chord[:i+1], Event{Key: &again}, chord[i+1:], true
		}
	}
	return nil, Event{}, nil, false
}

// splitChord returns the names of a chord's modifiers, and its key.
func splitChord(chord string) (modifiers []string, key string) {
	parts := strings.Split(chord, "+")
	n := len(parts) - 1
	switch {
	case chord == "+":
		return nil, "+"
	case strings.HasSuffix(chord, "++"): // "+" itself, after modifiers
		return parts[:n-1], "+"
	}
	return parts[:n], parts[n]
}

// press returns the events that press and release the key of a chord while modifiers are held.
func (s stroke) press(modifiers int64, mac bool) []Event {
	if s.shift {
		modifiers |= Shift
	}
	pressed := s.down(modifiers | modifierBits[s.name])
	if mac {
		pressed.Commands = macCommands[commandKey{modifiers, s.code}]
	}
	return []Event{{Key: pressed}, {Key: s.up(modifiers)}}
}

// ClipboardUse reports how a chord uses the clipboard.
type ClipboardUse struct{ Copies, Pastes bool }

// Key codes of the keys that copy, cut and paste.
const (
	keyC, keyV, keyX     = 'C', 'V', 'X'
	keyInsert, keyDelete = 45, 46
)

// UsesClipboard reports whether a chord copies, cuts or pastes, whatever other keys it holds. An invalid chord does neither.
func UsesClipboard(chord string, mac bool) (use ClipboardUse) {
	events, _ := Chord(chord, mac)
	for _, e := range events {
		if e.Key == nil || e.Key.Type == input.DispatchKeyEventTypeKeyUp {
			continue
		}
		command, shift := e.Key.Modifiers&(Control|Meta) != 0, e.Key.Modifiers&Shift != 0
		switch e.Key.WindowsVirtualKeyCode {
		case keyC, keyX:
			use.Copies = use.Copies || command
		case keyV:
			use.Pastes = use.Pastes || command
		case keyInsert:
			use.Copies, use.Pastes = use.Copies || command, use.Pastes || shift
		case keyDelete:
			use.Copies = use.Copies || shift
		}
	}
	return use
}

// down returns the event that presses the key while modifiers are held.
func (s stroke) down(modifiers int64) *input.DispatchKeyEventParams {
	e := s.event(modifiers)
	e.Type = input.DispatchKeyEventTypeRawKeyDown
	if text := s.types(modifiers); text != "" {
		e.Type = input.DispatchKeyEventTypeKeyDown
		e.Text, e.UnmodifiedText = text, text
	}
	return e
}

// up returns the event that releases the key while modifiers are still held.
func (s stroke) up(modifiers int64) *input.DispatchKeyEventParams {
	e := s.event(modifiers)
	e.Type = input.DispatchKeyEventTypeKeyUp
	return e
}

func (s stroke) event(modifiers int64) *input.DispatchKeyEventParams {
	e := &input.DispatchKeyEventParams{
		Modifiers: modifiers, Key: s.name, Code: s.code, WindowsVirtualKeyCode: s.vk, NativeVirtualKeyCode: s.vk,
	}
	if s.location == 3 {
		e.IsKeypad = new(true)
	}
	if modifiers&Shift != 0 && s.shifted != "" {
		e.Key = s.shifted
	}
	if s.location == 1 || s.location == 2 {
		e.Location = s.location
	}
	return e
}

// types returns the text that the key types. It is empty if a held modifier makes the key a command.
func (s stroke) types(modifiers int64) string {
	switch {
	case modifiers&^Shift != 0:
		return ""
	case s.text != "":
		return s.text
	case utf8.RuneCountInString(s.name) != 1:
		return ""
	case modifiers&Shift != 0 && s.shifted != "":
		return s.shifted
	}
	return s.name
}

// commandKey identifies a chord.
type commandKey struct {
	modifiers int64
	code      string
}

// macCommands maps chords to the editing commands that a Mac's text system runs.
var macCommands = map[commandKey][]string{
	{Meta, "KeyA"}:               {"selectAll"},
	{Meta, "KeyC"}:               {"copy"},
	{Meta, "KeyV"}:               {"paste"},
	{Meta, "KeyX"}:               {"cut"},
	{Meta, "KeyZ"}:               {"undo"},
	{Meta | Shift, "KeyZ"}:       {"redo"},
	{Control, "KeyA"}:            {"moveToBeginningOfParagraph"},
	{Control, "KeyE"}:            {"moveToEndOfParagraph"},
	{Control, "KeyK"}:            {"deleteToEndOfParagraph"},
	{Meta, "ArrowLeft"}:          {"moveToBeginningOfLine"},
	{Meta, "ArrowRight"}:         {"moveToEndOfLine"},
	{Meta, "ArrowUp"}:            {"moveToBeginningOfDocument"},
	{Meta, "ArrowDown"}:          {"moveToEndOfDocument"},
	{Meta | Shift, "ArrowLeft"}:  {"moveToBeginningOfLineAndModifySelection"},
	{Meta | Shift, "ArrowRight"}: {"moveToEndOfLineAndModifySelection"},
	{Alt, "ArrowLeft"}:           {"moveWordLeft"},
	{Alt, "ArrowRight"}:          {"moveWordRight"},
	{Alt, "Backspace"}:           {"deleteWordBackward"},
	{Meta, "Backspace"}:          {"deleteToBeginningOfLine"},
	{0, "Backspace"}:             {"deleteBackward"},
	{0, "Delete"}:                {"deleteForward"},
	{0, "ArrowLeft"}:             {"moveLeft"},
	{0, "ArrowRight"}:            {"moveRight"},
	{0, "ArrowUp"}:               {"moveUp"},
	{0, "ArrowDown"}:             {"moveDown"},
}

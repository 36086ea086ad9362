package keyboard

import "sync"

// key is one key of the US layout.
type key struct {
	// code is the key's position on the keyboard. name and shifted are its values without and with Shift.
	code, name, shifted string
	// vk is the value of KeyboardEvent.keyCode.
	vk int64
	// location is 0, 1 (left), 2 (right) or 3 (number pad).
	location int64
	// text is the text that the key types, if it differs from name.
	text string
}

// printable lists the keys that type a character.
var printable = []key{
	{code: "Backquote", name: "`", shifted: "~", vk: 192},
	{code: "Digit1", name: "1", shifted: "!", vk: 49},
	{code: "Digit2", name: "2", shifted: "@", vk: 50},
	{code: "Digit3", name: "3", shifted: "#", vk: 51},
	{code: "Digit4", name: "4", shifted: "$", vk: 52},
	{code: "Digit5", name: "5", shifted: "%", vk: 53},
	{code: "Digit6", name: "6", shifted: "^", vk: 54},
	{code: "Digit7", name: "7", shifted: "&", vk: 55},
	{code: "Digit8", name: "8", shifted: "*", vk: 56},
	{code: "Digit9", name: "9", shifted: "(", vk: 57},
	{code: "Digit0", name: "0", shifted: ")", vk: 48},
	{code: "Minus", name: "-", shifted: "_", vk: 189},
	{code: "Equal", name: "=", shifted: "+", vk: 187},
	{code: "BracketLeft", name: "[", shifted: "{", vk: 219},
	{code: "BracketRight", name: "]", shifted: "}", vk: 221},
	{code: "Backslash", name: `\`, shifted: "|", vk: 220},
	{code: "Semicolon", name: ";", shifted: ":", vk: 186},
	{code: "Quote", name: "'", shifted: `"`, vk: 222},
	{code: "Comma", name: ",", shifted: "<", vk: 188},
	{code: "Period", name: ".", shifted: ">", vk: 190},
	{code: "Slash", name: "/", shifted: "?", vk: 191},
	{code: "Space", name: " ", shifted: " ", vk: 32},
}

// named lists the keys that have a name.
var named = []key{
	{code: "Enter", name: "Enter", vk: 13, text: "\r"},
	{code: "Tab", name: "Tab", vk: 9},
	{code: "Escape", name: "Escape", vk: 27},
	{code: "Backspace", name: "Backspace", vk: 8},
	{code: "Delete", name: "Delete", vk: 46},
	{code: "Insert", name: "Insert", vk: 45},
	{code: "Home", name: "Home", vk: 36},
	{code: "End", name: "End", vk: 35},
	{code: "PageUp", name: "PageUp", vk: 33},
	{code: "PageDown", name: "PageDown", vk: 34},
	{code: "ArrowLeft", name: "ArrowLeft", vk: 37},
	{code: "ArrowUp", name: "ArrowUp", vk: 38},
	{code: "ArrowRight", name: "ArrowRight", vk: 39},
	{code: "ArrowDown", name: "ArrowDown", vk: 40},
	{code: "CapsLock", name: "CapsLock", vk: 20},
	{code: "NumLock", name: "NumLock", vk: 144},
	{code: "ScrollLock", name: "ScrollLock", vk: 145},
	{code: "Pause", name: "Pause", vk: 19},
	{code: "PrintScreen", name: "PrintScreen", vk: 44},
	{code: "ContextMenu", name: "ContextMenu", vk: 93},
	{code: "F1", name: "F1", vk: 112}, {code: "F2", name: "F2", vk: 113}, {code: "F3", name: "F3", vk: 114},
	{code: "F4", name: "F4", vk: 115}, {code: "F5", name: "F5", vk: 116}, {code: "F6", name: "F6", vk: 117},
	{code: "F7", name: "F7", vk: 118}, {code: "F8", name: "F8", vk: 119}, {code: "F9", name: "F9", vk: 120},
	{code: "F10", name: "F10", vk: 121}, {code: "F11", name: "F11", vk: 122}, {code: "F12", name: "F12", vk: 123},
}

// pad lists the keys of the number pad with NumLock on, except the digits.
var pad = []key{
	{code: "NumpadEnter", name: "Enter", vk: 13, location: 3, text: "\r"},
	{code: "NumpadAdd", name: "+", vk: 107, location: 3},
	{code: "NumpadSubtract", name: "-", vk: 109, location: 3},
	{code: "NumpadMultiply", name: "*", vk: 106, location: 3},
	{code: "NumpadDivide", name: "/", vk: 111, location: 3},
	{code: "NumpadDecimal", name: ".", vk: 110, location: 3},
}

// held lists the modifier keys.
var held = []key{
	{code: "ShiftLeft", name: "Shift", vk: 16, location: 1},
	{code: "ControlLeft", name: "Control", vk: 17, location: 1},
	{code: "AltLeft", name: "Alt", vk: 18, location: 1},
	{code: "MetaLeft", name: "Meta", vk: 91, location: 1},
	{code: "ShiftRight", name: "Shift", vk: 16, location: 2},
	{code: "ControlRight", name: "Control", vk: 17, location: 2},
	{code: "AltRight", name: "Alt", vk: 18, location: 2},
	{code: "MetaRight", name: "Meta", vk: 92, location: 2},
}

// stroke is a key, with or without Shift.
type stroke struct {
	key
	shift bool
}

// keyboard maps characters, names and codes to keys. The map is built on first use.
var keyboard = sync.OnceValue(layOut)

func layOut() map[string]stroke {
	board := map[string]stroke{}
	add := func(name string, s stroke) {
		if _, taken := board[name]; !taken {
			board[name] = s
		}
	}
	for letter := 'a'; letter <= 'z'; letter++ {
		upper := string(letter - 'a' + 'A')
		k := key{code: "Key" + upper, name: string(letter), shifted: upper, vk: int64(letter - 'a' + 'A')}
		add(k.name, stroke{key: k})
		add(k.shifted, stroke{key: k, shift: true})
		add(k.code, stroke{key: k})
	}
	for _, k := range printable {
		add(k.name, stroke{key: k})
		add(k.shifted, stroke{key: k, shift: true})
		add(k.code, stroke{key: k})
	}
	for digit := range int64(10) {
		name := string(rune('0' + digit))
		add("Numpad"+name, stroke{key: key{code: "Numpad" + name, name: name, vk: 96 + digit, location: 3}})
	}
	for _, list := range [][]key{named, pad, held} {
		for _, k := range list {
			add(k.code, stroke{key: k})
			if k.location != 3 {
				add(k.name, stroke{key: k})
			}
		}
	}
	return board
}

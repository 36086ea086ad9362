package input

import (
	"github.com/domtap/domtap/actor"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
)

// ClipboardUse says what an action does with the clipboard.
type ClipboardUse = keys.ClipboardUse

// UsesClipboard says whether an action copies or pastes by keys.
func UsesClipboard(a actor.Action, mac bool) ClipboardUse {
	if a.Kind != actor.Press {
		return ClipboardUse{}
	}
	return keys.UsesClipboard(a.Text, mac)
}

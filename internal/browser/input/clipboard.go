package input

import (
	"github.com/domtap/domtap/actor/driver"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
)

// ClipboardUse says what an action does with the clipboard.
type ClipboardUse = keys.ClipboardUse

// UsesClipboard says whether an action copies or pastes by keys.
func UsesClipboard(a driver.Action, mac bool) ClipboardUse {
	if a.Kind != driver.Press {
		return ClipboardUse{}
	}
	return keys.UsesClipboard(a.Text, mac)
}

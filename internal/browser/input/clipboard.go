package input

import (
	"github.com/domtap/domtap/actor/driver"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
)

// ClipboardUse reports how an action uses the clipboard.
type ClipboardUse = keys.ClipboardUse

// UsesClipboard reports whether an action copies or pastes by keys.
func UsesClipboard(a driver.Action, mac bool) ClipboardUse {
	if a.Kind != driver.Press {
		return ClipboardUse{}
	}
	return keys.UsesClipboard(a.Text, mac)
}

package render

import (
	"cmp"
	"fmt"
	"strconv"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Dialog returns one line about a dialog: confirm "Sure?": accepted.
func Dialog(d *domtapv1.Dialog) string {
	answer := "open"
	if d.GetAnswer() != domtapv1.DialogAnswer_DIALOG_ANSWER_UNSPECIFIED {
		answer = word(d.GetAnswer().String(), "DIALOG_ANSWER_")
	}
	return fmt.Sprintf("%s %q: %s", word(d.GetType().String(), "DIALOG_TYPE_"), Cell(d.GetMessage(), 100), answer)
}

// Downloads returns a table of downloads with a heading.
func Downloads(list []*domtapv1.Download) string {
	return table("TAB\tSTATE\tBYTES\tNAME\tFILE", list, func(d *domtapv1.Download) []string {
		size := strconv.FormatInt(d.GetReceivedBytes(), 10)
		if total := d.GetTotalBytes(); total > d.GetReceivedBytes() {
			size += " of " + strconv.FormatInt(total, 10)
		}
		return []string{d.GetTabId(), word(d.GetState().String(), "DOWNLOAD_STATE_"), size, Cell(d.GetSuggestedFilename(), 50), Line(cmp.Or(d.GetPath(), d.GetReason(), "-"))}
	})
}

package render

import (
	"cmp"
	"strconv"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

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

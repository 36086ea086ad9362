package observer

import (
	"encoding/json"
	"strings"

	"github.com/domtap/domtap/dom"
)

const (
	// maxNotices limits the notices of a message.
	maxNotices = 64
	// maxNotice limits the bytes of each text of a notice.
	maxNotice = 2 << 10
	// maxNoticeLine limits the bytes of a notice's line.
	maxNoticeLine = 16 << 10
)

var noticeKinds = map[string]dom.NoticeKind{
	"alert": dom.NoticeAlert, "status": dom.NoticeStatus, "log": dom.NoticeLog, "dialog": dom.NoticeDialog,
	"invalid": dom.NoticeInvalid, "heading": dom.NoticeHeading, "toast": dom.NoticeToast, "busy": dom.NoticeBusy,
	"text": dom.NoticeText, "look": dom.NoticeAppearance,
}

// notice is one line of a message with notices.
type notice struct {
	ID     uint64 `json:"id"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Detail string `json:"detail"`
	Ref    int64  `json:"ref"`
	Gone   bool   `json:"gone"`
	Minor  bool   `json:"minor"`
}

// decodeNotices decodes the notices of a message.
func decodeNotices(lines string) ([]dom.Notice, error) {
	var out []dom.Notice
	for line := range strings.SplitSeq(lines, "\n") {
		var n notice
		if len(line) > maxNoticeLine || len(out) >= maxNotices {
			return nil, malformed("notice %d of %d bytes, limits %d and %d", len(out)+1, len(line), maxNotices, maxNoticeLine)
		}
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			return nil, malformed("notice: %v", err)
		}
		kind, known := noticeKinds[n.Kind]
		if !known || len(n.Text) > maxNotice || len(n.Detail) > maxNotice || n.Ref < -1 || n.Ref >= int64(dom.NoRef) {
			return nil, malformed("notice of kind %.20q, ref %d, text of %d bytes, detail of %d bytes", n.Kind, n.Ref, len(n.Text), len(n.Detail))
		}
		one := dom.Notice{ID: n.ID, Kind: kind, Text: clean(n.Text), Detail: clean(n.Detail), Ref: dom.NoRef, Gone: n.Gone, Minor: n.Minor}
		if n.Ref >= 0 {
			one.Ref = dom.Ref(n.Ref)
		}
		out = append(out, one)
	}
	return out, nil
}

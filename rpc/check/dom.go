package check

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// The ranges of the limits; 0 is always allowed and means unlimited.
const (
	maxElements = 1000
	minBudget   = 200
	maxBudget   = 50_000
	maxCursor   = 12 // bytes
	// maxReadCursor is the same for ReadPage, whose cursors name a place in a text.
	maxReadCursor = 40
)

// selection is what the requests of DomService have in common.
type selection interface {
	GetTabId() string
	GetMaxElements() int32
	GetMaxTokens() int32
	GetFrameId() string
	GetClientId() string
	GetIncludeAttributes() []string
	GetIncludeGeometry() bool
}

// snapshotRequest is what GetDom and GetCompact have in common.
type snapshotRequest interface {
	selection
	GetIncremental() bool
	GetEpoch() string
	GetCursor() string
	GetMaxAge() *durationpb.Duration
}

func (c *collector) getDom(r *domtapv1.GetDomRequest) {
	c.selection(r, r.RootRef)
	c.snapshot(r, r.SinceRevision)
}

func (c *collector) getCompact(r *domtapv1.GetCompactRequest) {
	c.selection(r, r.RootRef)
	c.snapshot(r, r.SinceRevision)
	switch r.GetFormat() {
	case domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE:
	case domtapv1.Format_FORMAT_DIFF:
		c.want(r.GetIncremental() || r.SinceRevision != nil, "format", "DIFF needs incremental or since_revision")
	default:
		c.want(false, "format", "must be LINES, TREE or DIFF")
	}
	if r.GetIncludeGeometry() {
		c.unsupported("include_geometry in GetCompact", "use GetDom, which always has the boxes")
	}
	if r.GetDedupeNavigation() && r.GetFormat() != domtapv1.Format_FORMAT_TREE {
		c.unsupported("dedupe_navigation in another format than TREE",
			"use TREE, or leave it unset; incremental with format DIFF sends only what changed")
	}
}

func (c *collector) watchDom(r *domtapv1.WatchDomRequest) {
	c.selection(r, r.RootRef)
	c.want(r.FromRevision == nil || r.GetEpoch() != "", "epoch", "is required with from_revision")
	c.epoch(r.GetEpoch())
	format := r.GetFormat()
	c.want(format == domtapv1.Format_FORMAT_UNSPECIFIED || format == domtapv1.Format_FORMAT_DIFF,
		"format", "must be DIFF or unset in a stream")
	c.interval("min_interval", r.GetMinInterval())
	if r.GetIncludeGeometry() {
		c.unsupported("include_geometry in WatchDom", "read the boxes with GetDom, which always has them")
	}
}

// interval wants a time of up to maxInterval, if any.
func (c *collector) interval(field string, t *durationpb.Duration) {
	ok := t == nil || t.CheckValid() == nil && 0 <= t.AsDuration() && t.AsDuration() <= maxInterval
	c.want(ok, field, "must be 0 to 1 minute")
}

func (c *collector) selection(r selection, root *uint32) {
	c.tabID(r.GetTabId())
	n := r.GetMaxElements()
	c.want(0 <= n && n <= maxElements, "max_elements", "must be 0 (unlimited) or 1 to 1000; unset means 300")
	budget := r.GetMaxTokens()
	c.want(budget == 0 || minBudget <= budget && budget <= maxBudget,
		"max_tokens", "must be 0 (unlimited) or 200 to 50000; unset means 8000")
	c.ref("root_ref", root)
	c.want(len(r.GetFrameId()) <= maxID, "frame_id", fmt.Sprintf("must have at most %d bytes", maxID))
	c.want(utf8.RuneCountInString(r.GetClientId()) <= maxClientID, "client_id", "must have at most 100 characters")
	c.attributes(r.GetIncludeAttributes())
}

func (c *collector) snapshot(r snapshotRequest, since *uint64) {
	c.want(since == nil || r.GetEpoch() != "", "epoch", "is required with since_revision")
	c.epoch(r.GetEpoch())
	c.interval("max_age", r.GetMaxAge())
	c.want(len(r.GetCursor()) <= maxCursor, "cursor", "must be the next_cursor of an answer, as it came")
	c.want(r.GetCursor() == "" || !r.GetIncremental() && since == nil,
		"cursor", "goes on with a whole view: leave incremental and since_revision unset")
	if r.GetIncludeGeometry() && since != nil {
		c.unsupported("include_geometry with since_revision",
			"use incremental, or compare the boxes yourself: every answer has them")
	}
}

func (c *collector) epoch(epoch string) {
	c.want(len(epoch) <= maxID, "epoch", fmt.Sprintf("must have at most %d bytes", maxID))
}

func (c *collector) attributes(names []string) {
	c.want(len(names) <= maxNames, "include_attributes", "must have at most 16 names")
	for i, name := range names {
		ok := name != "" && len(name) <= maxID && !strings.ContainsFunc(name, notInName)
		c.want(ok, fmt.Sprintf("include_attributes[%d]", i), "must be the name of an HTML attribute, such as data-testid")
	}
}

// notInName reports whether HTML's syntax forbids the character in an attribute's name.
func notInName(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'>/=`, r)
}

package dom

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/find"
	"github.com/domtap/domtap/internal/server/dom/waits"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	maxElements = 1000
	maxNames    = 16
	maxInterval = time.Minute
	minSpeed    = 0.01
	maxSpeed    = 10_000
	maxCursor   = 12 // in bytes
	// maxQuery and maxResults limit Find.
	maxQuery   = 200 // in characters
	maxResults = 50
)

// Rules are the rules of the requests of DomService.
var Rules = rules.Union(
	rules.Of(rules.At(checkGetDom)),
	rules.Of(rules.At(checkGetCompact)),
	rules.Of(rules.At(checkFind)),
	rules.Of(rules.At(checkWatchDom)),
	rules.Of(checkWaitFor),
)

// selection is implemented by the requests of DomService.
type selection interface {
	GetTabId() string
	GetMaxElements() int32
	GetMaxTokens() int32
	GetFrameId() string
	GetClientId() string
	GetIncludeAttributes() []string
	GetIncludeGeometry() bool
}

// snapshotRequest is implemented by GetDomRequest and GetCompactRequest.
type snapshotRequest interface {
	selection
	GetIncremental() bool
	GetEpoch() string
	GetCursor() string
	GetMaxAge() *durationpb.Duration
	GetObserveOnly() bool
}

func checkGetDom(v *rules.Violations, r *domtapv1.GetDomRequest) {
	checkSelection(v, r, r.RootRef)
	checkRead(v, r, r.SinceRevision)
}

func checkGetCompact(v *rules.Violations, r *domtapv1.GetCompactRequest) {
	checkSelection(v, r, r.RootRef)
	checkRead(v, r, r.SinceRevision)
	switch r.GetFormat() {
	case domtapv1.Format_FORMAT_UNSPECIFIED, domtapv1.Format_FORMAT_LINES, domtapv1.Format_FORMAT_TREE,
		domtapv1.Format_FORMAT_DENSE:
	case domtapv1.Format_FORMAT_DIFF, domtapv1.Format_FORMAT_DENSE_DIFF:
		v.Want(r.GetIncremental() || r.SinceRevision != nil, "format", "DIFF and DENSE_DIFF need incremental or since_revision")
	default:
		v.Want(false, "format", "must be LINES, TREE, DENSE, DIFF or DENSE_DIFF")
	}
	if r.GetIncludeGeometry() {
		v.Unsupported("include_geometry in GetCompact", "use GetDom, which always has the boxes")
	}
	if r.GetDedupeNavigation() && r.GetFormat() != domtapv1.Format_FORMAT_TREE {
		v.Unsupported("dedupe_navigation in another format than TREE",
			"use TREE, or leave it unset; incremental with format DIFF sends only what changed")
	}
}

func checkFind(v *rules.Violations, r *domtapv1.FindRequest) {
	v.TabID(r.GetTabId())
	query := r.GetQuery()
	n := find.CountWords(query)
	v.Want(utf8.RuneCountInString(query) <= maxQuery && 1 <= n && n <= find.MaxWords,
		"query", "must be the words to find, at most 200 characters and 16 words")
	v.Words("within", r.GetWithin())
	if r.MaxResults != nil {
		v.Want(1 <= r.GetMaxResults() && r.GetMaxResults() <= maxResults, "max_results", "must be 1 to 50; unset means 10")
	}
	v.Budget("max_tokens", r.GetMaxTokens(), 500)
	v.ClientID(r.GetClientId())
	checkInterval(v, "max_age", r.GetMaxAge())
}

func checkWatchDom(v *rules.Violations, r *domtapv1.WatchDomRequest) {
	checkSelection(v, r, r.RootRef)
	v.Want(r.FromRevision == nil || r.GetEpoch() != "", "epoch", "is required with from_revision")
	checkEpoch(v, r.GetEpoch())
	v.Want(rules.IsDiffFormat(r.GetFormat()), "format", "must be DIFF, DENSE_DIFF or unset in a stream; GetCompact has the other formats")
	checkInterval(v, "min_interval", r.GetMinInterval())
	rules.Range(v, "speed", r.Speed, minSpeed, maxSpeed, "must be 0.01 to 10000; unset means 1")
	if r.GetIncludeGeometry() {
		v.Unsupported("include_geometry in WatchDom", "read the boxes with GetDom, which always has them")
	}
}

func checkSelection(v *rules.Violations, r selection, root *uint32) {
	v.TabID(r.GetTabId())
	n := r.GetMaxElements()
	v.Want(0 <= n && n <= maxElements, "max_elements", "must be 0 (unlimited) or 1 to 1000; unset means 300")
	v.Budget("max_tokens", r.GetMaxTokens(), 8000)
	v.Ref("root_ref", root)
	v.MaxBytes("frame_id", r.GetFrameId(), rules.MaxID)
	v.ClientID(r.GetClientId())
	checkAttributes(v, r.GetIncludeAttributes())
}

func checkRead(v *rules.Violations, r snapshotRequest, since *uint64) {
	v.Want(since == nil || r.GetEpoch() != "", "epoch", "is required with since_revision")
	checkEpoch(v, r.GetEpoch())
	checkInterval(v, "max_age", r.GetMaxAge())
	v.Want(len(r.GetCursor()) <= maxCursor, "cursor", "must be the unchanged next_cursor of an answer")
	v.Want(r.GetCursor() == "" || !r.GetIncremental() && since == nil,
		"cursor", "continues a whole view: leave incremental and since_revision unset")
	if r.GetObserveOnly() {
		checkObserveOnly(v, r, since)
	}
	if r.GetIncludeGeometry() && since != nil {
		v.Unsupported("include_geometry with since_revision",
			"use incremental, or compare the boxes yourself: every answer has them")
	}
}

// checkObserveOnly checks a read that is not recorded as a read of the client. Such a read cannot be compared with other reads.
func checkObserveOnly(v *rules.Violations, r snapshotRequest, since *uint64) {
	compact, _ := r.(*domtapv1.GetCompactRequest)
	v.Want(!r.GetIncremental() && since == nil && r.GetCursor() == "" && !r.GetIncludeGeometry() && !compact.GetDedupeNavigation(), "observe_only",
		"must not be set together with incremental, since_revision, cursor, include_geometry or dedupe_navigation")
}

func checkAttributes(v *rules.Violations, names []string) {
	v.Want(len(names) <= maxNames, "include_attributes", "must have at most 16 names")
	for i, name := range names {
		ok := name != "" && len(name) <= rules.MaxID && !strings.ContainsFunc(name, notInName)
		v.Want(ok, fmt.Sprintf("include_attributes[%d]", i), "must be the name of an HTML attribute, such as data-testid")
	}
}

// notInName reports whether HTML forbids the character in an attribute name.
func notInName(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'>/=`, r)
}

func checkWaitFor(v *rules.Violations, r *domtapv1.WaitForRequest) {
	v.TabID(r.GetTabId())
	waits.CheckCondition(v, "until", r.GetUntil())
	v.Want(r.SinceRevision == nil || r.GetEpoch() != "", "epoch", "is required with since_revision")
	checkEpoch(v, r.GetEpoch())
	v.Timeout("timeout", r.GetTimeout())
	v.DiffFormat(r.GetFormat())
	v.ClientID(r.GetClientId())
}

func checkEpoch(v *rules.Violations, epoch string) { v.MaxBytes("epoch", epoch, rules.MaxID) }

// checkInterval checks that an optional duration is at most maxInterval.
func checkInterval(v *rules.Violations, field string, t *durationpb.Duration) {
	v.Want(t == nil || rules.Within(t, 0, maxInterval), field, "must be 0 to 1 minute")
}

package check

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/extract"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// Limits of the requests of PageService, as documented in the protos.
const (
	maxBatch        = 50
	maxParallel     = 8
	maxBatchTimeout = time.Minute
	maxEntries      = 1000
	maxPages        = 100_000
)

func checkPdf(v *violations, r *domtapv1.PdfRequest) {
	checkTabID(v, r.GetTabId())
	_, known := domtapv1.PaperFormat_name[int32(r.GetFormat())]
	v.want(known, "format", "must be A4, LETTER, LEGAL, A3 or A5")
	v.want(r.Scale == nil || r.GetScale() >= 0.1 && r.GetScale() <= 2, "scale", "must be 0.1 to 2")
	v.want(validRanges(r.GetPageRanges()), "page_ranges", `must be pages and ranges of pages, from 1, such as "1-5, 8"`)
}

var pageRange = lazyregexp.New(`^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?)?\s*$`)

// validRanges reports whether page ranges are valid, such as "1-5, 8" or "3-", which extends to the last page.
func validRanges(ranges string) bool {
	if ranges == "" {
		return true
	}
	if len(ranges) > 1000 {
		return false
	}
	for part := range strings.SplitSeq(ranges, ",") {
		m := pageRange().FindStringSubmatch(part)
		if m == nil {
			return false
		}
		from, _ := strconv.Atoi(m[1]) // cannot fail: it has at most six digits
		to := from
		if m[3] != "" {
			to, _ = strconv.Atoi(m[3])
		}
		if from < 1 || to < from || to > maxPages {
			return false
		}
	}
	return true
}

func checkExtract(v *violations, r *domtapv1.ExtractRequest) {
	checkTabID(v, r.GetTabId())
	checkRef(v, "root_ref", r.RootRef)
	v.want(r.MaxRows == nil || 1 <= r.GetMaxRows() && r.GetMaxRows() <= extract.MaxRows, "max_rows",
		"must be 1 to 10000; unset means 1000")
	n := 0
	for _, set := range []bool{r.GetSchemaJson() != "", len(r.GetSelectors()) > 0, r.GetTable() != nil} {
		if set {
			n++
		}
	}
	if v.want(n == 1, "schema_json", "is required, unless selectors or table is set; set only one of the three") {
		_, err := Schema(r)
		addSchemaFault(v, err)
	}
}

// addSchemaFault adds the violations of a schema.
func addSchemaFault(v *violations, err error) {
	if invalid, ok := errors.AsType[*Invalid](err); ok {
		v.list = append(v.list, invalid.Violations...)
	}
}

// Schema compiles the schema, the selectors or the table of a request. It returns an *Invalid if that fails.
func Schema(r *domtapv1.ExtractRequest) (*extract.Schema, error) {
	switch {
	case r.GetSchemaJson() != "":
		schema, err := extract.Compile([]byte(r.GetSchemaJson()))
		return schema, SchemaFault("schema_json", err)
	case r.GetTable() != nil:
		schema, err := extract.OfTable(extract.Table{Headers: r.GetTable().GetHeaders(), Caption: r.GetTable().GetCaption()})
		return schema, SchemaFault("", err)
	}
	schema, err := extract.Selectors(r.GetSelectors())
	return schema, SchemaFault("", err)
}

// SchemaFault returns an *Invalid for a faulty schema in a field of a request. It returns nil if err is nil.
func SchemaFault(field string, err error) error {
	var fault *extract.SchemaError
	if !errors.As(err, &fault) {
		return err
	}
	at := fault.Path
	if field != "" && !strings.HasPrefix(at, "selectors") && !strings.HasPrefix(at, "table") || at == "" {
		at = strings.TrimSuffix(field+"."+at, ".")
	}
	return &Invalid{Violations: []Violation{{Field: at, Description: fault.Problem}}}
}

func checkBatch(v *violations, r *domtapv1.BatchRequest) {
	v.want(1 <= len(r.GetUrls()) && len(r.GetUrls()) <= maxBatch, "urls", "must have 1 to 50 URLs")
	for i, url := range r.GetUrls() {
		if i >= maxBatch {
			break
		}
		field := fmt.Sprintf("urls[%d]", i)
		if v.want(url != "", field, "must not be empty") {
			if err := parseURL(url); err != nil && err.Kind != apierr.Refused {
				v.want(false, field, err.Message)
			}
		}
	}
	_, known := domtapv1.ReadMode_name[int32(r.GetWhat())]
	v.want(known && r.GetWhat() != domtapv1.ReadMode_READ_MODE_VISUAL, "what", "must be AUTO, CONTENT or INTERACTIVE")
	checkBudget(v, "max_tokens", r.GetMaxTokens(), 1500)
	v.want(0 <= r.GetParallel() && r.GetParallel() <= maxParallel, "parallel", "must be 1 to 8; unset means 4")
	checkSessionID(v, r.GetSessionId())
	if t := r.GetTimeout(); t != nil {
		d := t.AsDuration()
		v.want(t.IsValid() && d > 0 && d <= maxBatchTimeout, "timeout", "must be more than 0 and at most 1 minute, for each URL")
	}
	if r.GetSchemaJson() != "" {
		v.want(r.GetWhat() == domtapv1.ReadMode_READ_MODE_UNSPECIFIED, "what",
			"must not be set together with schema_json")
		_, err := extract.Compile([]byte(r.GetSchemaJson()))
		addSchemaFault(v, SchemaFault("schema_json", err))
	}
}

func checkEvaluate(v *violations, r *domtapv1.EvaluateRequest) {
	checkTabID(v, r.GetTabId())
	v.want(strings.TrimSpace(r.GetExpression()) != "", "expression", "is required: give an expression or a function")
	checkText(v, "expression", r.GetExpression())
	checkRef(v, "ref", r.Ref)
	checkMaxBytes(v, "frame_id", r.GetFrameId(), maxID)
}

func checkReadLog(v *violations, r *domtapv1.ReadLogRequest) {
	checkTabID(v, r.GetTabId())
	v.want(r.MaxEntries == nil || 1 <= r.GetMaxEntries() && r.GetMaxEntries() <= maxEntries, "max_entries",
		"must be 1 to 1000; unset means 100")
	for i, kind := range r.GetKinds() {
		_, known := domtapv1.LogKind_name[int32(kind)]
		v.want(known, fmt.Sprintf("kinds[%d]", i), "must be CONSOLE, ERROR or NETWORK")
	}
}

// Limits of bodies and videos, as documented in the protos.
const (
	maxBodyBytes  = 1 << 20
	minVideoBytes = 64 << 10
	maxVideoBytes = 32 << 20
	maxVideo      = time.Minute
)

func checkGetRequest(v *violations, r *domtapv1.GetRequestRequest) {
	checkTabID(v, r.GetTabId())
	v.want(r.GetRequestId() > 0, "request_id", "is required: the request_id of an entry of ReadLog")
	checkBody(v, r.MaxBodyBytes, r.GetBody())
}

func checkExportHar(v *violations, r *domtapv1.ExportHarRequest) {
	checkTabID(v, r.GetTabId())
	checkBody(v, r.MaxBodyBytes, r.GetBodies())
}

func checkBody(v *violations, most *int32, asked bool) {
	v.want(most == nil || 1 <= *most && *most <= maxBodyBytes, "max_body_bytes", "must be 1 to 1048576; unset means 262144")
	v.want(most == nil || asked, "max_body_bytes", "must be set only with bodies")
}

func checkAudit(v *violations, r *domtapv1.AuditRequest) {
	checkTabID(v, r.GetTabId())
	v.want(r.MaxTokens == nil || 200 <= r.GetMaxTokens() && r.GetMaxTokens() <= 50_000, "max_tokens", "must be 200 to 50000; unset means 2000")
	v.want(r.MaxFindings == nil || 1 <= r.GetMaxFindings() && r.GetMaxFindings() <= 1000, "max_findings", "must be 1 to 1000; unset means 200")
}

func checkRecordVideo(v *violations, r *domtapv1.RecordVideoRequest) {
	checkTabID(v, r.GetTabId())
	if t := r.GetDuration(); t != nil {
		v.want(t.IsValid() && t.AsDuration() > 0 && t.AsDuration() <= maxVideo, "duration", "must be more than 0 and at most 1 minute; unset means 10 s")
	}
	v.want(r.Fps == nil || 1 <= r.GetFps() && r.GetFps() <= 10, "fps", "must be 1 to 10; unset means 5")
	v.want(r.MaxWidth == nil || 100 <= r.GetMaxWidth() && r.GetMaxWidth() <= 1280, "max_width", "must be 100 to 1280; unset means 800")
	v.want(r.MaxBytes == nil || minVideoBytes <= r.GetMaxBytes() && r.GetMaxBytes() <= maxVideoBytes, "max_bytes", "must be 65536 to 33554432; unset means 8388608")
}

func checkScreenshot(v *violations, r *domtapv1.ScreenshotRequest) {
	checkTabID(v, r.GetTabId())
	_, known := domtapv1.ImageFormat_name[int32(r.GetFormat())]
	v.want(known, "format", "must be PNG, JPEG or WEBP")
	if r.Quality != nil {
		lossy := r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_JPEG ||
			r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_WEBP
		v.want(lossy && 1 <= r.GetQuality() && r.GetQuality() <= 100, "quality", "must be 1 to 100, and only with JPEG or WEBP")
	}
	checkRef(v, "ref", r.Ref)
	v.want(r.Ref == nil || !r.GetFullPage(), "full_page", "must not be set together with ref")
	v.want(!r.GetMarks() || r.GetFormat() != domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, "marks",
		"must be set only with format PNG or JPEG")
}

func checkReadPage(v *violations, r *domtapv1.ReadPageRequest) {
	checkTabID(v, r.GetTabId())
	mode := r.GetMode()
	_, known := domtapv1.ReadMode_name[int32(mode)]
	v.want(known, "mode", "must be AUTO, CONTENT, INTERACTIVE or VISUAL")
	checkBudget(v, "max_tokens", r.GetMaxTokens(), 1500)
	cursor := r.GetCursor()
	v.want(len(cursor) <= maxReadCursor, "cursor", "must be the unchanged next_cursor of an answer or cursor of a heading")
	chosen := mode != domtapv1.ReadMode_READ_MODE_UNSPECIFIED && mode != domtapv1.ReadMode_READ_MODE_AUTO
	text := strings.HasPrefix(cursor, "r")
	v.want(cursor == "" || !chosen || text == (mode == domtapv1.ReadMode_READ_MODE_CONTENT),
		"mode", "differs from the mode of the answer that returned the cursor: leave it unset")
	v.want(r.RootRef == nil || !chosen || mode == domtapv1.ReadMode_READ_MODE_CONTENT,
		"mode", "must be unset or CONTENT with root_ref, which is read as text")
}

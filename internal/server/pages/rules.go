package pages

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
	"github.com/domtap/domtap/internal/server/rules"
)

// Limits of the requests of PageService, as documented in the protos.
const (
	maxBatch        = 50
	maxParallel     = 8
	maxBatchTimeout = time.Minute
	maxEntries      = 1000
	maxPages        = 100_000
	// maxReadCursor limits the cursors of ReadPage, which encode a position in a text.
	maxReadCursor = 40
)

// Rules are the rules of the requests of PageService.
var Rules = rules.Union(
	rules.Of(checkReadPage),
	rules.Of(rules.At(checkScreenshot)),
	rules.Of(checkPdf),
	rules.Of(checkExtract),
	rules.Of(checkBatch),
	rules.Of(checkEvaluate),
	rules.Of(rules.At(checkReadLog)),
	rules.Of(checkGetRequest),
	rules.Of(checkExportHar),
	rules.Of(checkAudit),
	rules.Of(checkRecordVideo),
)

func checkPdf(v *rules.Violations, r *domtapv1.PdfRequest) {
	v.TabID(r.GetTabId())
	rules.Known(v, "format", r.GetFormat(), "must be A4, LETTER, LEGAL, A3 or A5")
	v.Want(r.Scale == nil || r.GetScale() >= 0.1 && r.GetScale() <= 2, "scale", "must be 0.1 to 2")
	v.Want(validRanges(r.GetPageRanges()), "page_ranges", `must be pages and ranges of pages, from 1, such as "1-5, 8"`)
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

func checkExtract(v *rules.Violations, r *domtapv1.ExtractRequest) {
	v.TabID(r.GetTabId())
	v.Ref("root_ref", r.RootRef)
	rules.Range(v, "max_rows", r.MaxRows, 1, extract.MaxRows, "must be 1 to 10000; unset means 1000")
	n := 0
	for _, set := range []bool{r.GetSchemaJson() != "", len(r.GetSelectors()) > 0, r.GetTable() != nil} {
		if set {
			n++
		}
	}
	if v.Want(n == 1, "schema_json", "is required, unless selectors or table is set; set only one of the three") {
		_, err := compileSchema(r)
		addSchemaFault(v, err)
	}
}

// addSchemaFault adds the violations of a schema.
func addSchemaFault(v *rules.Violations, err error) {
	if invalid, ok := errors.AsType[*rules.Invalid](err); ok {
		v.Add(invalid)
	}
}

// compileSchema compiles the schema, the selectors or the table of a request. It returns a *rules.Invalid if that fails.
func compileSchema(r *domtapv1.ExtractRequest) (*extract.Schema, error) {
	switch {
	case r.GetSchemaJson() != "":
		schema, err := extract.Compile([]byte(r.GetSchemaJson()))
		return schema, schemaFault("schema_json", err)
	case r.GetTable() != nil:
		schema, err := extract.OfTable(extract.Table{Headers: r.GetTable().GetHeaders(), Caption: r.GetTable().GetCaption()})
		return schema, schemaFault("", err)
	}
	schema, err := extract.Selectors(r.GetSelectors())
	return schema, schemaFault("", err)
}

// schemaFault returns a *rules.Invalid for a faulty schema in a field of a request. It returns nil if err is nil.
func schemaFault(field string, err error) error {
	var fault *extract.SchemaError
	if !errors.As(err, &fault) {
		return err
	}
	at := fault.Path
	if field != "" && !strings.HasPrefix(at, "selectors") && !strings.HasPrefix(at, "table") || at == "" {
		at = strings.TrimSuffix(field+"."+at, ".")
	}
	return &rules.Invalid{Violations: []rules.Violation{{Field: at, Description: fault.Problem}}}
}

func checkBatch(v *rules.Violations, r *domtapv1.BatchRequest) {
	v.Want(1 <= len(r.GetUrls()) && len(r.GetUrls()) <= maxBatch, "urls", "must have 1 to 50 URLs")
	for i, url := range r.GetUrls() {
		if i >= maxBatch {
			break
		}
		field := fmt.Sprintf("urls[%d]", i)
		if v.Want(url != "", field, "must not be empty") {
			if err := rules.ParseURL(url); err != nil && err.Kind != apierr.Refused {
				v.Want(false, field, err.Message)
			}
		}
	}
	v.Want(rules.IsKnown(r.GetWhat()) && r.GetWhat() != domtapv1.ReadMode_READ_MODE_VISUAL, "what", "must be AUTO, CONTENT or INTERACTIVE")
	v.Budget("max_tokens", r.GetMaxTokens(), 1500)
	v.Want(0 <= r.GetParallel() && r.GetParallel() <= maxParallel, "parallel", "must be 1 to 8; unset means 4")
	v.SessionID(r.GetSessionId())
	if t := r.GetTimeout(); t != nil {
		d := t.AsDuration()
		v.Want(t.IsValid() && d > 0 && d <= maxBatchTimeout, "timeout", "must be more than 0 and at most 1 minute, for each URL")
	}
	if r.GetSchemaJson() != "" {
		v.Want(r.GetWhat() == domtapv1.ReadMode_READ_MODE_UNSPECIFIED, "what",
			"must not be set together with schema_json")
		_, err := extract.Compile([]byte(r.GetSchemaJson()))
		addSchemaFault(v, schemaFault("schema_json", err))
	}
}

func checkEvaluate(v *rules.Violations, r *domtapv1.EvaluateRequest) {
	v.TabID(r.GetTabId())
	v.Want(strings.TrimSpace(r.GetExpression()) != "", "expression", "is required: give an expression or a function")
	v.Text("expression", r.GetExpression())
	v.Ref("ref", r.Ref)
	v.MaxBytes("frame_id", r.GetFrameId(), rules.MaxID)
}

func checkReadLog(v *rules.Violations, r *domtapv1.ReadLogRequest) {
	v.TabID(r.GetTabId())
	rules.Range(v, "max_entries", r.MaxEntries, 1, maxEntries, "must be 1 to 1000; unset means 100")
	for i, kind := range r.GetKinds() {
		rules.Known(v, fmt.Sprintf("kinds[%d]", i), kind, "must be CONSOLE, ERROR or NETWORK")
	}
}

// Limits of bodies and videos, as documented in the protos.
const (
	maxBodyBytes  = 1 << 20
	minVideoBytes = 64 << 10
	maxVideoBytes = 32 << 20
	maxVideo      = time.Minute
)

func checkGetRequest(v *rules.Violations, r *domtapv1.GetRequestRequest) {
	v.TabID(r.GetTabId())
	v.Want(r.GetRequestId() > 0, "request_id", "is required: the request_id of an entry of ReadLog")
	checkBody(v, r.MaxBodyBytes, r.GetBody())
}

func checkExportHar(v *rules.Violations, r *domtapv1.ExportHarRequest) {
	v.TabID(r.GetTabId())
	checkBody(v, r.MaxBodyBytes, r.GetBodies())
}

func checkBody(v *rules.Violations, most *int32, asked bool) {
	v.Want(most == nil || 1 <= *most && *most <= maxBodyBytes, "max_body_bytes", "must be 1 to 1048576; unset means 262144")
	v.Want(most == nil || asked, "max_body_bytes", "must be set only with bodies")
}

func checkAudit(v *rules.Violations, r *domtapv1.AuditRequest) {
	v.TabID(r.GetTabId())
	rules.Range(v, "max_tokens", r.MaxTokens, 200, 50_000, "must be 200 to 50000; unset means 2000")
	rules.Range(v, "max_findings", r.MaxFindings, 1, 1000, "must be 1 to 1000; unset means 200")
}

func checkRecordVideo(v *rules.Violations, r *domtapv1.RecordVideoRequest) {
	v.TabID(r.GetTabId())
	if t := r.GetDuration(); t != nil {
		v.Want(t.IsValid() && t.AsDuration() > 0 && t.AsDuration() <= maxVideo, "duration", "must be more than 0 and at most 1 minute; unset means 10 s")
	}
	rules.Range(v, "fps", r.Fps, 1, 10, "must be 1 to 10; unset means 5")
	rules.Range(v, "max_width", r.MaxWidth, 100, 1280, "must be 100 to 1280; unset means 800")
	rules.Range(v, "max_bytes", r.MaxBytes, minVideoBytes, maxVideoBytes, "must be 65536 to 33554432; unset means 8388608")
}

func checkScreenshot(v *rules.Violations, r *domtapv1.ScreenshotRequest) {
	v.TabID(r.GetTabId())
	rules.Known(v, "format", r.GetFormat(), "must be PNG, JPEG or WEBP")
	if r.Quality != nil {
		lossy := r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_JPEG ||
			r.GetFormat() == domtapv1.ImageFormat_IMAGE_FORMAT_WEBP
		v.Want(lossy && 1 <= r.GetQuality() && r.GetQuality() <= 100, "quality", "must be 1 to 100, and only with JPEG or WEBP")
	}
	v.Ref("ref", r.Ref)
	v.Want(r.Ref == nil || !r.GetFullPage(), "full_page", "must not be set together with ref")
	v.Want(!r.GetMarks() || r.GetFormat() != domtapv1.ImageFormat_IMAGE_FORMAT_WEBP, "marks",
		"must be set only with format PNG or JPEG")
}

func checkReadPage(v *rules.Violations, r *domtapv1.ReadPageRequest) {
	v.TabID(r.GetTabId())
	mode := r.GetMode()
	rules.Known(v, "mode", mode, "must be AUTO, CONTENT, INTERACTIVE or VISUAL")
	v.Budget("max_tokens", r.GetMaxTokens(), 1500)
	cursor := r.GetCursor()
	v.Want(len(cursor) <= maxReadCursor, "cursor", "must be the unchanged next_cursor of an answer or cursor of a heading")
	chosen := mode != domtapv1.ReadMode_READ_MODE_UNSPECIFIED && mode != domtapv1.ReadMode_READ_MODE_AUTO
	text := strings.HasPrefix(cursor, "r")
	v.Want(cursor == "" || !chosen || text == (mode == domtapv1.ReadMode_READ_MODE_CONTENT),
		"mode", "differs from the mode of the answer that returned the cursor: leave it unset")
	v.Want(r.RootRef == nil || !chosen || mode == domtapv1.ReadMode_READ_MODE_CONTENT,
		"mode", "must be unset or CONTENT with root_ref, which is read as text")
	special := r.GetDownload() != "" || r.GetPath() != ""
	v.Want(!special || r.RootRef == nil && (!chosen || mode == domtapv1.ReadMode_READ_MODE_CONTENT),
		"mode", "must be unset or CONTENT with download and path, which are read as text, without root_ref")
	v.Want(len(r.GetDownload()) <= maxDownloadName, "download", "must be the guid of a download or the name of its file: ListDownloads lists them (domtap downloads)")
	v.Want(len(r.GetPath()) <= maxDocumentPath, "path", fmt.Sprintf("must have at most %d bytes", maxDocumentPath))
}

// Limits of the fields of ReadPage that select documents, in bytes.
const (
	maxDownloadName = 4000
	maxDocumentPath = 2000
)

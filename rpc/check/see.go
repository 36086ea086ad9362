package check

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/extract"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Limits of the requests that look at pages.
const (
	maxBatch        = 50
	maxParallel     = 8
	maxBatchTimeout = time.Minute
	maxEntries      = 1000
	maxPages        = 100_000
)

// seeing checks the requests of PageService that are not checked elsewhere; false: it is none of them.
func (c *collector) seeing(m proto.Message) bool {
	switch r := m.(type) {
	case *domtapv1.PdfRequest:
		c.pdf(r)
	case *domtapv1.ExtractRequest:
		c.tabID(r.GetTabId())
		c.extract(r)
	case *domtapv1.BatchRequest:
		c.batch(r)
	case *domtapv1.EvaluateRequest:
		c.tabID(r.GetTabId())
		c.want(strings.TrimSpace(r.GetExpression()) != "", "expression", "is required: an expression, or a function")
		c.want(utf8.RuneCountInString(r.GetExpression()) <= maxText, "expression", "must have at most 100000 characters")
		c.ref("ref", r.Ref)
		c.want(len(r.GetFrameId()) <= maxID, "frame_id", fmt.Sprintf("must have at most %d bytes", maxID))
	case *domtapv1.ReadLogRequest:
		c.readLog(r)
	default:
		return false
	}
	return true
}

func (c *collector) pdf(r *domtapv1.PdfRequest) {
	c.tabID(r.GetTabId())
	_, known := domtapv1.PaperFormat_name[int32(r.GetFormat())]
	c.want(known, "format", "must be A4, LETTER, LEGAL, A3 or A5")
	c.want(r.Scale == nil || r.GetScale() >= 0.1 && r.GetScale() <= 2, "scale", "must be 0.1 to 2")
	c.want(validRanges(r.GetPageRanges()), "page_ranges", `must be pages and ranges of pages, from 1, such as "1-5, 8"`)
}

var pageRange = regexp.MustCompile(`^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?)?\s*$`)

// validRanges takes "1-5, 8" and "3-", which means to the end.
func validRanges(ranges string) bool {
	if ranges == "" {
		return true
	}
	if len(ranges) > 1000 {
		return false
	}
	for part := range strings.SplitSeq(ranges, ",") {
		m := pageRange.FindStringSubmatch(part)
		if m == nil {
			return false
		}
		from, _ := strconv.Atoi(m[1]) // of at most six digits
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

func (c *collector) extract(r *domtapv1.ExtractRequest) {
	c.ref("root_ref", r.RootRef)
	c.want(r.MaxRows == nil || 1 <= r.GetMaxRows() && r.GetMaxRows() <= extract.MaxRows, "max_rows", "must be 1 to 10000; unset means 1000")
	n := 0
	for _, set := range []bool{r.GetSchemaJson() != "", len(r.GetSelectors()) > 0, r.GetTable() != nil} {
		if set {
			n++
		}
	}
	if c.want(n == 1, "schema_json", "or selectors or table must be set, and only one of them") {
		_, err := Schema(r)
		c.fault(err)
	}
}

// fault notes what is wrong with a schema.
func (c *collector) fault(err error) {
	var invalid *Invalid
	if errors.As(err, &invalid) {
		c.violations = append(c.violations, invalid.Violations...)
	}
}

// Schema compiles what a request asks for; its error is an *Invalid.
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

// SchemaFault makes an *Invalid of a fault of a schema that is in a field of a request; nil of nil.
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

func (c *collector) batch(r *domtapv1.BatchRequest) {
	c.want(1 <= len(r.GetUrls()) && len(r.GetUrls()) <= maxBatch, "urls", "must be 1 to 50")
	for i, url := range r.GetUrls() {
		if i >= maxBatch {
			break
		}
		field := fmt.Sprintf("urls[%d]", i)
		if c.want(url != "", field, "must not be empty") {
			if err := parseURL(url); err != nil && err.Kind != actor.Refused {
				c.want(false, field, err.Message)
			}
		}
	}
	_, known := domtapv1.ReadMode_name[int32(r.GetWhat())]
	c.want(known && r.GetWhat() != domtapv1.ReadMode_READ_MODE_VISUAL, "what", "must be AUTO, CONTENT or INTERACTIVE")
	budget := r.GetMaxTokens()
	c.want(budget == 0 || minBudget <= budget && budget <= maxBudget, "max_tokens", "must be 0 (unlimited) or 200 to 50000; unset means 1500")
	c.want(0 <= r.GetParallel() && r.GetParallel() <= maxParallel, "parallel", "must be 1 to 8; unset means 4")
	c.sessionID(r.GetSessionId())
	if t := r.GetTimeout(); t != nil {
		d := t.AsDuration()
		c.want(t.IsValid() && d > 0 && d <= maxBatchTimeout, "timeout", "must be more than 0 and at most 1 minute, for each URL")
	}
	if r.GetSchemaJson() != "" {
		c.want(r.GetWhat() == domtapv1.ReadMode_READ_MODE_UNSPECIFIED, "what", "must be unset with schema_json, which is read instead")
		_, err := extract.Compile([]byte(r.GetSchemaJson()))
		c.fault(SchemaFault("schema_json", err))
	}
}

func (c *collector) readLog(r *domtapv1.ReadLogRequest) {
	c.tabID(r.GetTabId())
	c.want(r.MaxEntries == nil || 1 <= r.GetMaxEntries() && r.GetMaxEntries() <= maxEntries, "max_entries", "must be 1 to 1000; unset means 100")
	for i, kind := range r.GetKinds() {
		_, known := domtapv1.LogKind_name[int32(kind)]
		c.want(known, fmt.Sprintf("kinds[%d]", i), "must be CONSOLE, ERROR or NETWORK")
	}
}

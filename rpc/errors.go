package rpc

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/rpc/check"
	"github.com/domtap/domtap/rpc/limit"
	"github.com/domtap/domtap/rpc/views"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "domtap.dev"

// mapping is how one kind of error looks to a client.
type mapping struct {
	code   codes.Code
	reason string
}

// kinds is the table that turns the actors' errors into status codes; there is no other.
var kinds = map[actor.ErrorKind]mapping{
	actor.NotFound:      {codes.NotFound, "NOT_FOUND"},
	actor.Stale:         {codes.FailedPrecondition, "STALE_REF"},
	actor.NotActionable: {codes.FailedPrecondition, "NOT_ACTIONABLE"},
	actor.Navigation:    {codes.FailedPrecondition, "NAVIGATION_FAILED"},
	actor.NoHistory:     {codes.FailedPrecondition, "NO_HISTORY"},
	actor.Aborted:       {codes.Aborted, "NAVIGATED_AWAY"},
	actor.Exhausted:     {codes.ResourceExhausted, "LIMIT_REACHED"},
	actor.Refused:       {codes.PermissionDenied, "URL_POLICY"},
	actor.Lost:          {codes.Unavailable, "PAGE_LOST"},
	actor.Closed:        {codes.Aborted, "TAB_CLOSED"},
	actor.DialogOpen:    {codes.FailedPrecondition, "DIALOG_OPEN"},
	actor.IsDownload:    {codes.FailedPrecondition, "DOWNLOAD"},
	actor.NoDialog:      {codes.FailedPrecondition, "NO_DIALOG"},
	actor.Invalid:       {codes.InvalidArgument, "INVALID"},
	actor.Forbidden:     {codes.PermissionDenied, "UPLOAD_POLICY"},
	actor.Ambiguous:     {codes.FailedPrecondition, "AMBIGUOUS_TARGET"},
	actor.NoMatch:       {codes.FailedPrecondition, "TARGET_NOT_FOUND"},
	actor.Exists:        {codes.AlreadyExists, "EXISTS"},
	actor.Restoring:     {codes.Unavailable, "TAB_RESTORING"},
	actor.NotDelivered:  {codes.FailedPrecondition, "NOT_DELIVERED"},
	actor.Unresponsive:  {codes.FailedPrecondition, "PAGE_UNRESPONSIVE"},
}

// toStatus turns any error of a handler into one with a status. Errors that have one keep it.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	var known *actor.Error
	var exceeded *limit.Exceeded
	var invalid *check.Invalid
	var unsupported *check.Unsupported
	switch {
	case hasStatus(err):
		return err
	case errors.As(err, &exceeded):
		return exhausted(exceeded)
	case errors.As(err, &invalid):
		return badRequest(invalid)
	case errors.As(err, &unsupported):
		return newStatus(codes.Unimplemented, unsupported.Error(), info("UNIMPLEMENTED", map[string]string{"field": unsupported.Field}))
	case errors.Is(err, views.ErrCursorExpired):
		return newStatus(codes.FailedPrecondition, err.Error(), info("CURSOR_EXPIRED", nil))
	case errors.Is(err, views.ErrOtherView):
		return badRequest(&check.Invalid{Violations: []check.Violation{{Field: "cursor", Description: err.Error()}}})
	case errors.Is(err, context.DeadlineExceeded):
		return newStatus(codes.DeadlineExceeded, err.Error()+" (a longer deadline may help; GetTab tells the tab's status)")
	case errors.As(err, &known):
		m, ok := kinds[known.Kind]
		if !ok {
			m = mapping{codes.Internal, "UNKNOWN_KIND"}
		}
		details := []protoadapt.MessageV1{info(m.reason, facts(known))}
		if m.code == codes.InvalidArgument {
			details = append(details, violation(cmp.Or(known.Field, "request"), known.Error()))
		}
		if known.RetryAfter > 0 {
			details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(known.RetryAfter)})
		}
		if m.code == codes.ResourceExhausted {
			details = append(details, quota(known.Client, err.Error()))
		}
		return newStatus(m.code, err.Error(), details...)
	case errors.Is(err, context.Canceled):
		return newStatus(codes.Canceled, err.Error()+" (what the call began may still happen)")
	}
	return newStatus(codes.Internal, err.Error()+": this is a fault of domtap; see the daemon's log, and please report it")
}

// exhausted tells of a limit, and when to try again where that is known.
func exhausted(e *limit.Exceeded) error {
	details := []protoadapt.MessageV1{info("LIMIT_REACHED", map[string]string{"limit": e.Limit, "max": e.Max}), quota(e.Client, e.Message)}
	if e.Retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.Retry)})
	}
	return newStatus(codes.ResourceExhausted, e.Message, details...)
}

// quota tells whose limit it is that was reached; without a client, the daemon's.
func quota(client, description string) *errdetails.QuotaFailure {
	subject := "daemon"
	if client != "" {
		subject = "client:" + client
	}
	return &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: subject, Description: valid(description)}}}
}

// limitOf is the name of the limit that an error tells of; empty: none.
func limitOf(err error) string {
	st := status.Convert(err)
	if st.Code() != codes.ResourceExhausted {
		return ""
	}
	for _, detail := range st.Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok && i.GetMetadata()["limit"] != "" {
			return i.GetMetadata()["limit"]
		}
	}
	switch { // gRPC's own words
	case strings.Contains(st.Message(), "received message larger"):
		return limit.Request
	case strings.Contains(st.Message(), "send message larger"):
		return limit.Response
	}
	return "other"
}

// facts are what an error says to programs: its details, and the refs of the elements that may have been meant.
func facts(e *actor.Error) map[string]string {
	if len(e.Candidates) == 0 {
		return e.Detail
	}
	all := maps.Clone(e.Detail)
	if all == nil {
		all = map[string]string{}
	}
	refs := make([]string, len(e.Candidates))
	for i, el := range e.Candidates {
		refs[i] = strconv.FormatUint(uint64(el.Ref), 10)
	}
	all["candidates"] = strings.Join(refs, " ")
	return all
}

func hasStatus(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	return errors.As(err, &s)
}

// reasonOf returns the ErrorInfo reason that an error would carry, and "" when it carries none.
func reasonOf(err error) string {
	for _, detail := range status.Convert(toStatus(err)).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// violation says what is wrong with one field.
func violation(field, description string) *errdetails.BadRequest {
	return &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: valid(field), Description: valid(description)}}}
}

func badRequest(invalid *check.Invalid) error {
	detail := new(errdetails.BadRequest)
	for _, v := range invalid.Violations {
		detail.FieldViolations = append(detail.FieldViolations, violation(v.Field, v.Description).FieldViolations...)
	}
	return newStatus(codes.InvalidArgument, invalid.Error(), detail)
}

func info(reason string, metadata map[string]string) *errdetails.ErrorInfo {
	facts := make(map[string]string, len(metadata))
	for name, value := range metadata {
		facts[name] = valid(value)
	}
	return &errdetails.ErrorInfo{Reason: reason, Domain: errorDomain, Metadata: facts}
}

// valid makes a text one that a message can hold.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// newStatus makes an error. A detail that does not encode is left out rather than lose the error. What is too long for some
// clients is cut when the call ends; see package trailers.
func newStatus(code codes.Code, message string, details ...protoadapt.MessageV1) error {
	s := status.New(code, valid(message))
	if detailed, err := s.WithDetails(details...); err == nil {
		s = detailed
	}
	return s.Err()
}

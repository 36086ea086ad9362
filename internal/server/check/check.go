// Package check validates requests. It reads only the request. Whether a tab, a ref or a revision exists is checked by the actors.
//
// Request reports all invalid fields together, so that a client can fix them in one go. A request that passes is within the ranges that the
// protos document, and handlers rely on that.
//
// The function that checks a request is in the file of its service. The map checkers is the only list of these functions.
package check

import (
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Violation describes an invalid field.
type Violation struct {
	// Field is the path of the field, such as "steps[2].click.target.ref".
	Field string
	// Description states what the field must be.
	Description string
}

// Invalid is the error of a request with invalid fields.
type Invalid struct {
	// Violations lists the invalid fields, in the order of the request's fields.
	Violations []Violation
}

// Error lists the violations.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Field + ": " + v.Description
	}
	return strings.Join(parts, "; ")
}

// Unsupported is the error of a well-formed request for something that is not implemented.
type Unsupported struct {
	// Field is the path of the field with the request, or the name of the method.
	Field string
	// Instead describes what works.
	Instead string
}

// Error names the field and what works instead.
func (e *Unsupported) Error() string {
	return fmt.Sprintf("%s is not implemented yet: %s", e.Field, e.Instead)
}

// Request returns nil for a valid request and for a message without a checker. Otherwise it returns the first of these that applies: an
// *Invalid, an *apierr.Error of kind Refused for a URL that the policy forbids, or an *Unsupported.
func Request(m proto.Message) error {
	c, ok := checkers[reflect.TypeOf(m)]
	if !ok {
		return nil
	}
	v := new(violations)
	c.check(v, m)
	return v.err()
}

// checkers maps each request type to its checker.
var checkers = table(
	of(checkOpenTab), of(checkAt(checkTab[*domtapv1.GetTabRequest])), of(checkAt(checkSession[*domtapv1.ListTabsRequest])),
	of(checkSession[*domtapv1.WatchTabsRequest]), of(checkTab[*domtapv1.CloseTabRequest]), of(checkTab[*domtapv1.SetRestoreRequest]),
	of(checkNavigate), of(checkTabLoad[*domtapv1.GoBackRequest]), of(checkTabLoad[*domtapv1.GoForwardRequest]),
	of(checkTabLoad[*domtapv1.ReloadRequest]), of(checkAnswerDialog),
	of(checkAt(checkGetDom)), of(checkAt(checkGetCompact)), of(checkAt(checkFind)), of(checkAt(checkWatchDom)), of(checkWaitFor),
	of(checkInteract), of(checkFillForm),
	of(checkReadPage), of(checkAt(checkScreenshot)), of(checkPdf), of(checkExtract), of(checkBatch), of(checkEvaluate), of(checkAt(checkReadLog)),
	of(checkGetRequest), of(checkExportHar), of(checkAudit), of(checkRecordVideo),
	of(checkCreateSession), of(checkUpdateSession), of(checkCloseSession),
	of(checkSession[*domtapv1.GetStorageStateRequest]), of(checkSetStorageState), of(checkSession[*domtapv1.ListDownloadsRequest]),
	of(checkPruneTranscript), of(checkCountTokens), of(checkTab[*domtapv1.GetHistoryRequest]), of(checkGetStats), of(checkSearch),
	of(checkListCookies), of(checkSetCookies), of(checkDeleteCookies), of(checkGetLocalStorage), of(checkEditLocalStorage), of(checkGetSessionStorage), of(checkEditSessionStorage),
	of(checkAddRoute), of(checkSession[*domtapv1.ListRoutesRequest]), of(checkRemoveRoutes),
	of(checkDrainNode), of(checkMoveSession), of(checkStartLivePage),
	of(checkGetTimeline), of(checkWatchTimeline), of(checkPauseClient), of(checkResumeClient), of(checkTakeOver), of(checkHandBack), of(checkListPauses),
	of(checkRecord), of(checkStopRecording), of(checkListRecordings), of(checkSeek),
)

// checker checks one type of request and adds violations to v.
type checker struct {
	request reflect.Type
	check   func(v *violations, m proto.Message)
}

// of returns the checker of one type of request.
func of[M proto.Message](check func(*violations, M)) checker {
	return checker{reflect.TypeFor[M](), func(v *violations, m proto.Message) { check(v, m.(M)) }}
}

// table maps request types to checkers.
func table(all ...checker) map[reflect.Type]checker {
	byRequest := make(map[reflect.Type]checker, len(all))
	for _, c := range all {
		byRequest[c.request] = c
	}
	return byRequest
}

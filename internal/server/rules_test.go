package server

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// TestEveryRequestHasAChecker fails for API methods without rules.
func TestEveryRequestHasAChecker(t *testing.T) {
	checked := map[protoreflect.FullName]bool{"domtap.v1.ListSessionsRequest": true, "domtap.v1.ListSearchProvidersRequest": true, "domtap.v1.GetClusterRequest": true, "domtap.v1.GetReplayRequest": true, "domtap.v1.StopLivePageRequest": true} // requests without fields
	for request := range requestRules {
		checked[reflect.Zero(request).Interface().(proto.Message).ProtoReflect().Descriptor().FullName()] = true
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("domtap.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if request := methods.Get(j).Input().FullName(); !checked[request] {
					t.Errorf("%s has no rules", request)
				}
			}
		}
		return true
	})
}

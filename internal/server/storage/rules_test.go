package storage

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		&domtapv1.ListCookiesRequest{SessionId: "s", Filter: &domtapv1.CookieFilter{PartitionKey: proto.String("")}},
		&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Secure: true, PartitionKey: proto.String("https://c.test"), Priority: proto.String("Low")}}},
		&domtapv1.DeleteCookiesRequest{All: true},
		&domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{PartitionKey: proto.String("")}},
		&domtapv1.GetLocalStorageRequest{},
		&domtapv1.EditLocalStorageRequest{Origin: "http://a.test:80", Edit: &domtapv1.StorageEdit{Delete: make([]string, 1000)}},
		&domtapv1.GetSessionStorageRequest{TabId: "t1"},
		&domtapv1.EditSessionStorageRequest{TabId: "t1", Edit: &domtapv1.StorageEdit{Clear: true}},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{&domtapv1.ListCookiesRequest{Filter: &domtapv1.CookieFilter{Name: strings.Repeat("x", 8<<10+1)}}, "filter.name"},
		{&domtapv1.SetCookiesRequest{}, "cookies"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a"}}}, "cookies[0].domain"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Priority: proto.String("Huge")}}}, "cookies[0].priority"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", PartitionKey: proto.String("https://c.test")}}}, "cookies[0].secure"},
		{&domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Domain: "b", Secure: true, PartitionKey: proto.String("c.test")}}}, "cookies[0].partition_key"},
		{&domtapv1.DeleteCookiesRequest{}, "filter"},
		{&domtapv1.DeleteCookiesRequest{Filter: &domtapv1.CookieFilter{Name: "a"}, All: true}, "all"},
		{&domtapv1.GetLocalStorageRequest{Origin: "a.test"}, "origin"},
		{&domtapv1.EditLocalStorageRequest{Edit: &domtapv1.StorageEdit{Clear: true}}, "origin"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test"}, "edit"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Delete: make([]string, 1001)}}, "edit.delete"},
		{&domtapv1.EditLocalStorageRequest{Origin: "https://a.test", Edit: &domtapv1.StorageEdit{Set: make([]*domtapv1.StorageEntry, 1001)}}, "edit.set"},
		{&domtapv1.GetSessionStorageRequest{}, "tab_id"},
		{&domtapv1.EditSessionStorageRequest{TabId: "t1", Origin: "x", Edit: &domtapv1.StorageEdit{Clear: true}}, "origin"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}

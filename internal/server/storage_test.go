package server

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// database returns a database that uses every field.
func database() *domtapv1.IndexedDatabase {
	return &domtapv1.IndexedDatabase{Name: "app", Version: 3, Stores: []*domtapv1.ObjectStore{
		{Name: "users", KeyPath: proto.String("id"), AutoIncrement: true, Records: []*domtapv1.StoreRecord{{Value: proto.String(`{"id":1}`)}},
			Indexes: []*domtapv1.StoreIndex{{Name: "a", KeyPath: proto.String(""), MultiEntry: true, Unique: true}, {Name: "b", KeyPathArray: []string{"x", "y"}}}},
		{Name: "loose", Records: []*domtapv1.StoreRecord{{Key: proto.String("1"), ValueEncoded: proto.String(`{"d":"1970-01-01T00:00:00.000Z"}`)}, {KeyEncoded: proto.String(`{"v":"Infinity"}`), Value: proto.String("null")}}},
		{Name: "pairs", KeyPathArray: []string{"a", "b"}},
	}}
}

func TestStorageOverTheWire(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		ctx := t.Context()
		storage := domtapv1.NewStorageServiceClient(b.conn)
		state := &domtapv1.StorageState{
			Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: "a.test", Expires: 2e9, Secure: true, SameSite: "None", Priority: proto.String("High"),
				PartitionKey: proto.String("https://top.test"), HasCrossSiteAncestor: proto.Bool(true)}},
			Origins: []*domtapv1.OriginStorage{{Origin: "https://a.test", LocalStorage: []*domtapv1.StorageEntry{{Name: "x", Value: "secret"}}, IndexedDb: []*domtapv1.IndexedDatabase{database()}}},
		}
		if _, err := b.sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "work", StorageState: state}); err != nil {
			t.Fatal(err)
		}
		back, err := b.sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "work", IndexedDb: true})
		if err != nil || !proto.Equal(back.GetState(), state) {
			t.Errorf("the state came back as %v, %v", back.GetState(), err)
		}
		if back, err := b.sessions.GetStorageState(ctx, &domtapv1.GetStorageStateRequest{SessionId: "work"}); err != nil || len(back.GetState().GetOrigins()[0].GetIndexedDb()) > 0 {
			t.Errorf("databases that were not asked for: %v, %v", back, err)
		}
		listed, err := storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "work"})
		if err != nil || len(listed.GetCookies()) != 1 || listed.GetCookies()[0].GetCookie().GetValue() != "" || listed.GetCookies()[0].GetValueBytes() != 1 {
			t.Errorf("listed %v, %v", listed, err)
		}
		deleted, err := storage.DeleteCookies(ctx, &domtapv1.DeleteCookiesRequest{SessionId: "work", Filter: &domtapv1.CookieFilter{Name: "a"}})
		if err != nil || deleted.GetDeleted() != 1 {
			t.Errorf("deleted %v, %v", deleted, err)
		}
		_, err = storage.EditLocalStorage(ctx, &domtapv1.EditLocalStorageRequest{SessionId: "work", Origin: "https://a.test", Edit: &domtapv1.StorageEdit{
			Delete: []string{"x"}, Set: []*domtapv1.StorageEntry{{Name: "z", Value: "1"}, {Name: "y", Value: "22"}}}})
		if err != nil {
			t.Error(err)
		}
		local, err := storage.GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: "work", Values: true})
		if err != nil || len(local.GetOrigins()) != 1 || entriesOf(local.GetOrigins()[0]) != "y=22 z=1" {
			t.Errorf("local %v, %v", local, err)
		}
		opened, err := b.tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: "work"})
		if err != nil {
			t.Fatal(err)
		}
		tab := opened.GetTab().GetId()
		if _, err := storage.EditSessionStorage(ctx, &domtapv1.EditSessionStorageRequest{TabId: tab, Edit: &domtapv1.StorageEdit{Set: []*domtapv1.StorageEntry{{Name: "a", Value: "b"}}}}); err != nil {
			t.Error(err)
		}
		session, err := storage.GetSessionStorage(ctx, &domtapv1.GetSessionStorageRequest{TabId: tab, Values: true})
		if err != nil || entriesOf(session.GetStorage()) != "a=b" {
			t.Errorf("session %v, %v", session, err)
		}
		_, err = storage.GetSessionStorage(ctx, &domtapv1.GetSessionStorageRequest{TabId: tab, Origin: "https://elsewhere.test"})
		if status.Code(err) != codes.NotFound {
			t.Errorf("an origin that is not there: %v", err)
		}
	})
}

func entriesOf(o *domtapv1.StoredOrigin) string {
	var list []string
	for _, e := range o.GetEntries() {
		list = append(list, e.GetName()+"="+e.GetValue())
	}
	return strings.Join(list, " ")
}

func TestMaskedSessionsTellNoStoredValues(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		ctx := t.Context()
		storage := domtapv1.NewStorageServiceClient(b.conn)
		if _, err := b.sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{SessionId: "m", Settings: &domtapv1.SessionSettings{Mask: &domtapv1.Mask{Values: true}}}); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"cookies": second(storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "m", Values: true})),
			"local":   second(storage.GetLocalStorage(ctx, &domtapv1.GetLocalStorageRequest{SessionId: "m", Values: true})),
		} {
			if status.Code(err) != codes.FailedPrecondition || rpcstatus.Reason(err) != "NOT_ACTIONABLE" {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := storage.ListCookies(ctx, &domtapv1.ListCookiesRequest{SessionId: "m"}); err != nil {
			t.Errorf("names: %v", err)
		}
	})
}

package lspclient_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	goleak.VerifyTestMain(m)
}

// testContext ends well before the test binary is killed, so that a hang shows
// as the failure of one test.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// start connects a client to a fake server in process.
func start(t testing.TB, config lsptest.Config, o lspclient.Options) (*lspclient.Client, *lsptest.Server) {
	t.Helper()
	server, conn := lsptest.Start(t, config)
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	client, err := lspclient.Start(testContext(t), conn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client, server
}

// write makes a folder with files and returns its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func rewrite(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

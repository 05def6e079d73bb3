package validate

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shadow-exec" {
		ShadowMain()
	}
	goleak.VerifyTestMain(m)
}

// helper is the test binary as the shadow's helper.
func helper(t testing.TB) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, "shadow-exec"}
}

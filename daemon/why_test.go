package daemon

import "testing"

// TestMasked: what why answers is pasted into reports.
func TestMasked(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"GOFLAGS", "-tags=x", "-tags=x"},
		{"HTTPS_PROXY", "http://proxy:3128", "http://proxy:3128"},
		{"HTTPS_PROXY", "http://me:hunter2@proxy:3128", "http://…@proxy:3128"},
		{"CARGO_REGISTRY_TOKEN", "abc", "(set)"},
		{"VSS_NUGET_EXTERNAL_FEED_ENDPOINTS", `{"password":"x"}`, "(set)"},
		{"SOME_PASSWORD", "", ""},
	} {
		if got := masked(c.name, c.value); got != c.want {
			t.Errorf("masked(%s, %s) = %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

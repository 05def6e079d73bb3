package rust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/auralsp/aura/adapters"
)

// declared are the variables of the client that rust-analyzer, cargo, rustc and
// usual build scripts depend on (The Cargo Book, "Environment Variables"; the
// rustup book). Two clients that differ in one of them get two servers.
var declared = []string{
	"CARGO", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_BUILD_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_CACHE_RUSTC_INFO",
	"CARGO_ENCODED_RUSTFLAGS", "CARGO_HOME", "CARGO_HTTP_CAINFO", "CARGO_HTTP_PROXY", "CARGO_NET_GIT_FETCH_WITH_CLI", "CARGO_NET_OFFLINE",
	"CARGO_REGISTRIES_CRATES_IO_PROTOCOL", "CARGO_REGISTRY_DEFAULT", "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS",
	"RUSTC", "RUSTC_BOOTSTRAP", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTFLAGS", "RUST_SRC_PATH", "RUST_TARGET_PATH",
	"RUSTUP_AUTO_INSTALL", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
	"AR", "BINDGEN_EXTRA_CLANG_ARGS", "CC", "CFLAGS", "CMAKE", "CPATH", "CXX", "CXXFLAGS", "LDFLAGS", "LIBCLANG_PATH", "LIBRARY_PATH",
	"OPENSSL_DIR", "OPENSSL_INCLUDE_DIR", "OPENSSL_LIB_DIR", "OPENSSL_NO_VENDOR", "OPENSSL_STATIC", "PKG_CONFIG", "PKG_CONFIG_PATH",
	"PKG_CONFIG_SYSROOT_DIR", "PROTOC", "PROTOC_INCLUDE", "PYO3_PYTHON", "SDKROOT", "SQLX_OFFLINE", "DATABASE_URL",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"XDG_CONFIG_HOME", "TMPDIR",
}

// restricted keeps cargo from running or fetching anything for a workspace
// that is not trusted: its .cargo/config.toml may name a compiler and wrappers,
// and the variables count before it.
var restricted = map[string]string{
	"CARGO_NET_OFFLINE":                          "true",
	"CARGO_NET_GIT_FETCH_WITH_CLI":               "false",
	"RUSTC_WRAPPER":                              "",
	"RUSTC_WORKSPACE_WRAPPER":                    "",
	"CARGO_BUILD_RUSTC_WRAPPER":                  "",
	"RUSTUP_AUTO_INSTALL":                        "0",
	"CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS": "cargo:token",
}

// environment returns the child's complete environment, and the part of it by
// which instances differ: the declared variables and cargo.
func environment(site adapters.Site) (env []string, named map[string]string, err error) {
	vars := map[string]string{}
	for _, name := range declared {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	cargo := ""
	if filepath.Base(site.Marker) == "Cargo.toml" {
		if cargo, err = program(site.Env["PATH"], "cargo"); err != nil {
			return nil, nil, fmt.Errorf("rust-analyzer needs cargo: %w; install Rust from https://rustup.rs", err)
		}
	}
	if !site.Trusted {
		if err := restrict(site, vars); err != nil {
			return nil, nil, err
		}
	}
	named = maps.Clone(vars)
	if cargo != "" {
		named["cargo"] = cargo
	}
	for _, name := range []string{"HOME", "PATH"} {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env, named, nil
}

// restrict sets the variables that take the choice of programs from the workspace.
func restrict(site adapters.Site, vars map[string]string) error {
	maps.Copy(vars, restricted)
	if vars["RUSTC"] == "" {
		rustc, err := program(site.Env["PATH"], "rustc")
		if err != nil {
			return fmt.Errorf("rust-analyzer needs rustc: %w; install Rust from https://rustup.rs", err)
		}
		vars["RUSTC"] = rustc
	}
	if vars["RUSTUP_TOOLCHAIN"] == "" {
		// A rust-toolchain.toml may name a folder of the workspace as the toolchain.
		vars["RUSTUP_TOOLCHAIN"] = defaultToolchain(vars["RUSTUP_HOME"], site.Env["HOME"])
	}
	return nil
}

// defaultToolchain reads rustup's own settings.
func defaultToolchain(home, user string) string {
	if home == "" {
		home = filepath.Join(user, ".rustup")
	}
	var settings struct {
		Default string `toml:"default_toolchain"`
	}
	content, err := os.ReadFile(filepath.Join(home, "settings.toml"))
	if err != nil || toml.Unmarshal(content, &settings) != nil || settings.Default == "" {
		return "stable"
	}
	return settings.Default
}

// program returns the absolute path of a program in a PATH.
func program(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a folder of the project must not decide what runs
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("no program %q in PATH", name)
}

// short names a folder in the scratch folder.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

package lsptest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/auralsp/aura/lspclient/wire"
)

// configVariable holds the JSON of a Config, or a path of a file that holds
// one, in the environment of a process that is to be a server.
const configVariable = "AURA_LSPTEST"

// grandchildValue makes a process one that only waits to be killed.
const grandchildValue = "grandchild"

// Main makes the process a fake server when it was started by Command, and does
// not return then; otherwise it does nothing. It is the first line of the
// TestMain of a package that uses Command.
func Main() {
	value := os.Getenv(configVariable)
	switch {
	case value == "":
		return
	case value == grandchildValue:
		waitForKill(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	case !strings.HasPrefix(value, "{"):
		data, err := os.ReadFile(value)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		value = string(data)
	}
	var config Config
	if err := json.Unmarshal([]byte(value), &config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runProcess(config)
}

// Command returns the arguments and the environment that start a fake server
// as a child process: the test's own binary, whose TestMain calls Main.
func Command(t testing.TB, config Config) (argv, env []string) {
	t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self}, []string{configVariable + "=" + string(raw)}
}

// CommandFile is Command with the Config in a file, which may be written anew
// between one start and the next.
func CommandFile(t testing.TB, path string, config Config) (argv, env []string) {
	t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self}, []string{configVariable + "=" + path}
}

func runProcess(config Config) {
	s := newServer(config, os.Stdin, os.Stdout, os.Stderr)
	s.process = true
	s.exit = os.Exit
	if config.IgnoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	if config.Grandchild {
		if err := startGrandchild(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	memory := make([]byte, config.Eat)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	s.faulty(wire.Message{Kind: wire.NotificationMessage, Method: "start"})
	s.run()
	s.wg.Wait()
	if config.IgnoreEOF {
		waitForKill(syscall.SIGUSR1)
	}
	os.Exit(0)
}

// waitForKill ignores signals and never returns.
func waitForKill(ignored ...os.Signal) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ignored...)
	for range signals {
	}
}

func startGrandchild(config Config) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), configVariable+"="+grandchildValue)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: config.Setsid}
	if config.HoldStdout {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

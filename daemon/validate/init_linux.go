package validate

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/lspclient/change"
)

// ShadowMain is the whole life of the helper that Options.Helper starts: it
// mounts the shadow over the root, puts the staged files there, runs the
// command and reports. It never returns; the program must do nothing before it
// calls ShadowMain, and call it only when started as the helper.
func ShadowMain() {
	runtime.LockOSThread() // capabilities belong to a thread
	orders, reports := os.NewFile(3, "orders"), os.NewFile(4, "reports")
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // before Linux 5.11
		syscall.CloseOnExec(3)
		syscall.CloseOnExec(4)
	}
	var o order
	if os.Getpid() != 1 || orders == nil || receive(orders, &o) != nil {
		fmt.Fprintln(os.Stderr, "this command is started by the daemon for itself; it does nothing on its own")
		os.Exit(2)
	}
	startLifeline(orders)
	r, err := serveShadow(o)
	if err != nil {
		r = report{NoShadow: err.Error()}
	}
	if send(reports, r) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func serveShadow(o order) (report, error) {
	if err := mountShadow(o); err != nil {
		return report{}, err
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return report{}, err
	}
	defer root.Close()
	if err := put(root, o.Files); err != nil {
		return report{}, fmt.Errorf("a planned file cannot be placed in it: %w", err)
	}
	if err := proveStaged(o); err != nil {
		return report{}, err
	}
	if len(o.Argv) == 0 {
		return report{}, nil
	}
	if err := dropPrivileges(o.UserNS); err != nil {
		return report{}, err
	}
	r := runCommand(o)
	var fs unix.Statfs_t
	if unix.Statfs(o.Root, &fs) == nil {
		r.Full = fs.Bavail == 0
	}
	return r, nil
}

// mountShadow covers o.Root by an overlay whose upper layer is memory of this
// name space, so that the end of its last process is the end of it all.
func mountShadow(o order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts cannot be made private: %w", err)
	}
	// A private view of the processes, where what is mounted there allows it;
	// programs that ask for their own id in the old one still work.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")

	// A lower layer does not show what is mounted inside it, and a user's name
	// space is refused one with such mounts altogether.
	if inside, err := mountsBelow(o.Root); err != nil {
		return err
	} else if inside != "" {
		return fmt.Errorf("another file system is mounted inside the workspace, at %s", inside)
	}
	lower, err := openFolder(o.Root)
	if err != nil {
		return err
	}
	defer unix.Close(lower)
	options := fmt.Sprintf("size=%d,mode=0700", o.Size)
	if err := unix.Mount("aura", o.Mount, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("the kernel refuses a mount: %w", err)
	}
	memory, err := unix.Open(o.Mount, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(memory)
	if err := os.Mkdir(filepath.Join(o.Mount, "tmp"), 0o700); err != nil {
		return err
	}
	if o.Drop != "" {
		dropped, err := openFolder(o.Drop)
		if err != nil {
			return err
		}
		defer unix.Close(dropped)
		if err := cover(o.Drop, dropped, o.Mount, memory, "kept"); err != nil {
			return err
		}
	}
	if err := cover(o.Root, lower, o.Mount, memory, ""); err != nil {
		return err
	}
	if within(o.Root, o.Mount) { // the overlay hides what was mounted below it
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", memory), o.Mount, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("the overlay hides its own memory: %w", err)
		}
	}
	var before, after unix.Stat_t
	if err := errors.Join(unix.Fstat(lower, &before), unix.Stat(o.Root, &after)); err != nil {
		return err
	}
	if before.Dev == after.Dev {
		return errors.New("the overlay was mounted and has no effect")
	}
	return nil
}

func openFolder(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", path, err)
	}
	return fd, nil
}

// cover mounts an overlay over a folder, open as lower, whose upper layer is a
// folder of the memory that is mounted and open.
func cover(folder string, lower int, mount string, memory int, prefix string) error {
	for _, dir := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(mount, prefix+dir), 0o700); err != nil {
			return err
		}
	}
	if info, err := os.Stat(folder); err == nil {
		_ = os.Chmod(filepath.Join(mount, prefix+"upper"), info.Mode().Perm())
	}
	// Paths by descriptor: a root may hold characters that mean something in the options.
	layers := fmt.Sprintf("lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d/%supper,workdir=/proc/self/fd/%d/%swork", lower, memory, prefix, memory, prefix)
	err := unix.Mount("aura", folder, "overlay", unix.MS_NOSUID|unix.MS_NODEV, layers+",userxattr")
	if errors.Is(err, unix.EINVAL) { // before Linux 5.11, and memory without such attributes
		err = unix.Mount("aura", folder, "overlay", unix.MS_NOSUID|unix.MS_NODEV, layers)
	}
	if err != nil {
		return fmt.Errorf("the kernel refuses an overlay of %s: %w", folder, err)
	}
	return nil
}

// proveStaged checks that what was staged is in the private layer: had it
// reached the real tree, the user's file would hold it.
func proveStaged(o order) error {
	for _, f := range o.Files {
		path := f.Path
		switch {
		case f.NewPath != "":
			path = f.NewPath
		case f.Kind == change.Delete:
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(o.Root, path))
		if err != nil {
			return err
		}
		rel, err := below(o.Root, real)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(o.Mount, "upper", rel)); err != nil {
			return fmt.Errorf("%s is not in the private layer: %w", path, err)
		}
	}
	return nil
}

// mountsBelow returns a mount point below root, or nothing.
func mountsBelow(root string) (string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("mounts cannot be listed: %w", err)
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			if point := unescape.Replace(fields[4]); point != root && within(root, point) {
				return point, nil
			}
		}
	}
	return "", nil
}

// dropPrivileges gives up what the mounts needed. Root keeps what root has.
func dropPrivileges(userNS bool) error {
	if !userNS || os.Geteuid() == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("privileges cannot be dropped: %w", err)
	}
	return nil
}

// runCommand runs the command to its end. As process 1 it also buries what
// the command leaves behind.
func runCommand(o order) report {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return report{NoShadow: err.Error()}
	}
	defer null.Close()
	pid, err := syscall.ForkExec(o.Argv[0], o.Argv, &syscall.ProcAttr{
		Dir:   o.Dir,
		Env:   setenv(o.Env, "TMPDIR", filepath.Join(o.Mount, "tmp")),
		Files: []uintptr{null.Fd(), 1, 2},
	})
	if err != nil {
		return report{Missing: err.Error()}
	}
	for {
		var ws syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &ws, 0, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return report{NoShadow: fmt.Sprintf("wait for %s: %v", o.Argv[0], err)}
		case got == pid && (ws.Exited() || ws.Signaled()):
			return report{Exit: exitCode(ws)}
		}
	}
}

"""DPL operations and groups in a ledger directory (spec §2 and §8), and observing. Linux only."""
import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import pathlib
import re
import secrets
import select
import socket
import stat
import sys
import threading
import time

import groups
import protocol
from document import ID, SCHEMAS, Refused, decode, decode_ledger, encode, quote

KEPT, KEPT_SECONDS = 20, 3600
REGISTRIES = '~supervisors~'  # in the names of archived registries
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = READ | os.O_DIRECTORY
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Failed(Exception):
    def __init__(self, status, cause):
        super().__init__(cause)
        self.status = status


def status_of(error):
    """Return the exit status for an OSError. Opening a symbolic link gives ELOOP (§2.2)."""
    return 77 if isinstance(error, PermissionError) or error.errno == errno.ELOOP else 74


# Observation (§3.4, §4.2)

def start_ticks(pid):
    """Return field 22 of /proc/{pid}/stat, or None if there is no such process or only a zombie.

    PermissionError: this process may not look.
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except PermissionError:
        pass  # it is alive
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text(errors='replace')
        fields = stat.rpartition(')')[2].split()
    except ProcessLookupError:
        return None
    except FileNotFoundError:  # hidepid, or it has just ended
        raise PermissionError(f'/proc/{pid}/stat cannot be read') from None
    return None if ended(fields) else int(fields[19])


def ended(fields):
    """Return whether a process has ended. fields are those of its stat from field 3 on.

    A zombie may be only the main thread, while other threads still run.
    """
    return fields[0] in 'ZX' and fields[17] == '1'


@contextlib.contextmanager
def pidfd_of(pid):
    """Give a pidfd of process pid, or None if there is none. ProcessLookupError: nobody has pid."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # a thread has pid, or descriptors or the call are missing
        fd = None
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def unique(pidfd):
    """Return whether no other process has the inode of pidfd: statfs(2) says PID_FS_MAGIC."""
    answer = (ctypes.c_long * 32)()
    return (sys.maxsize > 2**32 and ctypes.CDLL(None).fstatfs(pidfd, answer) == 0
            and answer[0] == 0x50494446)


def has_ended(pidfd):
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def inode_of(pid):
    """Return the inode of the pidfds of process pid, or 0 if it has none of its own (§3.4)."""
    with pidfd_of(pid) as fd:
        return os.fstat(fd).st_ino if fd is not None and unique(fd) and not has_ended(fd) else 0


def look_by_inode(process):
    """Return 'gone' or 'present', or None if the inode does not tell."""
    with contextlib.suppress(ProcessLookupError), pidfd_of(process['pid']) as fd:
        if fd is None or not unique(fd):
            return None
        same = os.fstat(fd).st_ino == process['pidfdInode']
        return 'present' if same and not has_ended(fd) else 'gone'
    return 'gone'


def look(process):
    """Return whether process is 'gone' or 'present' (§4.2), or None if that is unknown."""
    try:
        if process['pid'] <= 0:
            return None
        if process['pidfdInode'] and (found := look_by_inode(process)):
            return found
        return 'present' if start_ticks(process['pid']) == process['startTicks'] else 'gone'
    except PermissionError:
        return None


def given(pid, name, until):
    """Return the value of variable name in the initial environment of process pid.

    It is b'' without the variable, or if this process may not look, and None if it is unknown.
    During an execve a process shows no environment, so this function retries until the execve is
    over, the process has ended, or monotonic time until has come.
    """
    while (found := environment(pid)) is None:
        if start_ticks(pid) is None:
            return b''
        if time.monotonic() > until:
            return None
        time.sleep(0.001)
    name += b'='
    return next((entry.removeprefix(name) for entry in found if entry.startswith(name)), b'')


def carries(pid, start_id, until):
    """Return whether that environment has start_id, or None if that is unknown."""
    starts = given(pid, b'DPL_START', until)
    return starts if starts is None else os.fsencode(start_id) in starts.split(b',')


def environment(pid):
    """Return the environment that process pid shows now, from any thread that has not exited.

    It is None if the process shows none but may have one.
    """
    try:
        threads = list(pathlib.Path(f'/proc/{pid}/task').iterdir())
    except OSError as error:
        return [] if isinstance(error, PermissionError) else None
    for thread in threads:
        found = b''
        with contextlib.suppress(OSError), open(thread / 'environ', 'rb', buffering=0) as file:
            # One read, because two might see two programs. The kernel allows no larger environment.
            found = file.read(1 << 23)
        if found:
            return found.split(b'\0')
        with contextlib.suppress(OSError):
            fields = (thread / 'stat').read_text(errors='replace').rpartition(')')[2].split()
            # The program has started, and its environment is empty or hidden from this process.
            if int(fields[23]) and fields[47] == fields[48]:
                return []
    return None


def survivors(entry, patience=1):
    """Return whether entry's process has or may have survivors after patience seconds (§11.6)."""
    until = time.monotonic() + patience
    keeper = entry.get('keeper', {}).get('pid')
    kept = (keeper and look(entry['keeper']) == 'present'
            and given(keeper, b'DPL_KEEPER', until) == os.fsencode(entry['startId']))
    lost = keeper and look(entry['keeper']) == 'gone'

    def belongs(pid):
        """Return whether pid is a survivor, or None if that is unknown."""
        with contextlib.suppress(OSError):
            fields = fields_of(pid)
            if int(fields[19]) < entry['process']['startTicks'] or given(pid, b'DPL_KEEPER', until):
                return False
            if starts := given(pid, b'DPL_START', until):
                return os.fsencode(entry['startId']) in starts.split(b',')
            parent = int(fields[1])
            if kept and parent == keeper or parent > 1 and belongs(parent):
                return True
            in_session = int(fields[3]) == entry['pid']
            return None if in_session and (starts is None or lost) else False
        return False

    while True:
        alive = [int(path.name) for path in pathlib.Path('/proc').glob('[0-9]*')
                 if start_ticks_or_none(int(path.name))]
        if any(belongs(pid) is not False for pid in alive if pid != keeper or not kept):
            return True
        if (not kept or look(entry['keeper']) == 'gone'
                or any(parent_of(pid) == keeper for pid in alive)):
            return False  # the keeper's other processes belong to other starts
        if time.monotonic() > until:
            return True
        time.sleep(0.001)


def fields_of(pid):
    """Return the fields of the stat of a process, from field 3 on."""
    return pathlib.Path(f'/proc/{pid}/stat').read_text(errors='replace').rpartition(')')[2].split()


def parent_of(pid):
    with contextlib.suppress(OSError):
        return int(fields_of(pid)[1])
    return None


def start_ticks_or_none(pid):
    with contextlib.suppress(OSError):
        return start_ticks(pid)
    return None


def machine_id():
    for path in ('/etc/machine-id', '/var/lib/dbus/machine-id'):
        with contextlib.suppress(OSError):
            text = ''.join(pathlib.Path(path).read_text(errors='replace').split())
            if text:
                return text
    return ''


def host_id(machine, name):
    """Return the 64-bit FNV-1a hash of machine id and host name, in hexadecimal (§3.4)."""
    result = 0xcbf29ce484222325
    for byte in f'{machine}/{name}'.encode():
        result = (result ^ byte) * 0x100000001b3 % 2**64
    return f'{result:016x}'


def host():
    """Return the hostId, bootId and pidNamespace of this process."""
    return {'hostId': host_id(machine_id(), socket.gethostname()),
            'bootId': pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip(),
            'pidNamespace': re.search(r'\d+', os.readlink('/proc/self/ns/pid'))[0]}


def observe(now=None):
    started = pathlib.Path('/proc/1/stat').read_text().rpartition(')')[2].split()[19]
    uptime = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return protocol.Observation(
        now=time.time_ns() // 1_000_000 if now is None else now, **host(),
        bootedAt=time.time_ns() // 1_000_000 - uptime + int(started) * 10,
        monotonicMs=time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000
        if now is None else None,
        look=look, watch='awake' if now is not None else '')


def process_of(pid):
    """Return the identity of a live process. Refused: deadProcess."""
    ticks = start_ticks(pid) if pid > 0 else None
    if ticks is None:
        raise Refused('deadProcess', f'process {pid} does not live')
    with contextlib.suppress(ProcessLookupError):
        return {'pid': pid, **host(), 'startTicks': ticks, 'pidfdInode': inode_of(pid)}
    raise Refused('deadProcess', f'process {pid} has just ended')


# Deleting (§2.7)

def mount_of(fd):
    return re.search(r'mnt_id:\s*(\d+)', pathlib.Path(f'/proc/self/fdinfo/{fd}').read_text())[1]


def enter(fd, name):
    """Open a directory below the open directory fd: no symbolic link, and on the same mount."""
    inner = os.open(name, PLACE, dir_fd=fd)
    if mount_of(inner) != mount_of(fd):
        os.close(inner)
        raise OSError(f'{name} is a mount point')
    return inner


def delete(fd, name):
    """Delete name in the open directory fd, as far as possible."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=fd)
            return
        inner = enter(fd, name)
        try:
            for entry in os.listdir(inner):
                delete(inner, entry)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=fd)


class Trash:
    """Paths that were renamed under the lock. empty() deletes them afterwards."""

    def __init__(self):
        self.parts = []

    def take(self, root, path):
        """Rename path, which must be strictly inside root, within its directory.

        A missing path is no error.
        """
        *between, name = pathlib.PurePath(path).relative_to(root).parts
        try:
            fd = os.open(root, PLACE)
            for part in between:
                outer = fd
                try:
                    fd = enter(outer, part)
                finally:
                    os.close(outer)
        except FileNotFoundError:
            return
        away = f'.dpl-trash-{secrets.token_hex(8)}'
        try:
            os.rename(name, away, src_dir_fd=fd, dst_dir_fd=fd)
            self.parts.append((fd, away))
        except OSError as error:
            os.close(fd)
            if not isinstance(error, FileNotFoundError):
                raise

    def empty(self):
        for fd, name in self.parts:
            delete(fd, name)
            os.close(fd)
        self.parts = []


def file_at(path):
    """Return what is at path, as foundResources has it (§3.2), or None if nothing is there."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return 'directory' if stat.S_ISDIR(info.st_mode) else ':'.join(map(str, (
        info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)))


def as_found(path, found):
    """Return whether path is still what a frame found there when it was pushed (§2.7)."""
    return any(one['path'] == path and one['file'] == file_at(path) for one in found)


def call_directory(run, call):
    """Return the name of the temporary directory of a call, in that of its operation (§2.7)."""
    return f'{run}~{call}' if run else call


def inside(root, path):
    pure = pathlib.PurePath(path)
    return pure.is_absolute() and '..' not in pure.parts and pathlib.PurePath(root) in pure.parents


# Files

def replace(old, new):
    """Rename, the commit of an edit (§2.4).

    A failed rename may still have taken effect: over a network the reply can be lost.
    """
    try:
        os.rename(old, new)
    except OSError as error:
        try:
            os.lstat(old)
        except OSError:
            raise Failed(71, str(error)) from error
        raise


def sync_directory(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd, text):
    left = memoryview(text.encode('utf-8'))
    while left:
        left = left[os.write(fd, left):]
    os.fsync(fd)


class LockRemoved(Exception):
    """The lock file has lost its name (§2.3), and nothing was committed."""


def still_locked(fd, path):
    """Raise LockRemoved unless path is still the name of the lock file that is open as fd."""
    try:
        if os.path.samestat(os.fstat(fd), os.lstat(path)):
            return
    except FileNotFoundError:
        pass
    raise LockRemoved


def repeated(edit):
    """Make an edit start again when its lock file was removed, as long as it may wait."""
    @functools.wraps(edit)
    def edit_again(self, name, verb, observe, seconds=5, **arguments):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return edit(self, name, verb, observe, seconds, **arguments)
            except LockRemoved:
                if time.monotonic() > deadline:
                    raise Failed(75, 'the lock file was removed during the edit') from None
    return edit_again


def flock(fd, deadline):
    """Take the lock on fd.

    If that fails until deadline, the waiting thread keeps fd and closes it.
    """
    try:
        return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    mutex, done, owner = threading.Lock(), threading.Event(), ['caller']

    def wait():
        fcntl.flock(fd, fcntl.LOCK_EX)
        done.set()
        with mutex:
            if owner[0] == 'thread':
                os.close(fd)
    threading.Thread(target=wait, daemon=True).start()
    done.wait(max(0, deadline - time.monotonic()))
    with mutex:
        if not done.is_set():
            owner[0] = 'thread'
            raise Failed(75, 'another process holds the lock')


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items()
                if k not in ('lastHeartbeat', 'beat', 'revision')}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


class Ledger:
    def __init__(self, directory, create=False):
        """Open the ledger in directory.

        Refused: noOperation if there is none, newerVersion, corrupt; Failed 77.
        """
        self.path = pathlib.Path(directory).absolute()
        self.operations, self.archive = self.path / 'operations', self.path / 'archive'
        self.temporary = self.path / 'tmp'
        self.shared = False
        marker = self.path / 'ledger.json'
        if not os.path.lexists(marker):
            # Check this before the marker, again: a ledger that is just being made gets its marker
            # first.
            if (self.operations.exists() and any(self.operations.iterdir())
                    and not os.path.lexists(marker)):
                raise Refused('newerVersion', f'{self.path} holds operations but no ledger.json')
            if not create and not os.path.lexists(marker):
                raise Refused('noOperation', f'{self.path} is no ledger')
            if create:
                self.make(marker)
        self.check(self.path)
        members = decode_ledger(self.read(marker))
        self.shared = members['shared']
        self.roots = [str(self.temporary), *members['resourceRoots']]
        self.check(marker)
        if create:
            self.mkdir(self.operations)
        if self.operations.exists():
            self.check(self.operations)

    def make(self, marker):
        self.path.mkdir(0o700, parents=True, exist_ok=True)
        self.check(self.path)
        temporary = f'{marker}.tmp~{secrets.token_hex(8)}'
        fd = os.open(temporary, NEW, 0o600)
        try:
            write_all(fd, f'{{\n  "$schema": "{SCHEMAS}ledger.schema.json",\n'
                          '  "protocolVersion": 1,\n  "commit": "rename",\n'
                          '  "shared": false,\n  "resourceRoots": []\n}\n')
            with contextlib.suppress(FileExistsError):
                os.link(temporary, marker)
        finally:
            os.unlink(temporary)
            os.close(fd)
        sync_directory(self.path)

    def mkdir(self, path):
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
            if self.shared:
                path.chmod(0o2770)
            sync_directory(self.path)

    def check(self, path, fd=None):
        """Raise Failed 77 unless only this user can write to path (§2.2)."""
        info = os.stat(path) if fd is None else os.fstat(fd)
        if not self.shared and info.st_uid != os.geteuid():
            raise Failed(77, f'{path} belongs to user {info.st_uid}')
        if info.st_mode & (0o002 if self.shared else 0o022):
            raise Failed(77, f'{path} may be written by others')

    def open_new(self, path, flags=NEW):
        fd = os.open(path, flags, 0o600)
        if self.shared and os.fstat(fd).st_uid == os.geteuid():
            os.fchmod(fd, 0o660)
        return fd

    def read(self, path):
        with open(os.open(path, READ), 'rb') as file:
            return file.read()

    def read_checked(self, path):
        with open(os.open(path, READ), 'rb') as file:
            self.check(path, file.fileno())
            return file.read()

    def file(self, operation):
        return self.operations / f'{operation}.json'

    # Reading (§2.5) and the archive (§2.6)

    def archived(self, operation):
        """Return the numbers of the archived operations of this id, in order.

        1 is the operation without a number.
        """
        pattern = re.compile(re.escape(operation) + r'(?:~([2-9]|[1-9]\d+))?\.json')
        names = os.listdir(self.archive) if self.archive.exists() else []
        return sorted(int(match[1] or 1) for match in map(pattern.fullmatch, names) if match)

    def archive_file(self, operation, number):
        return self.archive / (f'{operation}.json' if number == 1 else f'{operation}~{number}.json')

    def status(self, operation):
        """Return the operation, archived or not. Refused: noOperation, corrupt, newerVersion."""
        for attempt in range(2):
            with contextlib.suppress(FileNotFoundError):
                return decode(self.read_checked(self.file(operation)), operation)
            numbers = () if attempt else self.archived(operation)
            for number in reversed(numbers):
                with contextlib.suppress(FileNotFoundError):
                    return decode(self.read_checked(self.archive_file(operation, number)),
                                  operation)
        raise Refused('noOperation', 'no such operation')

    def put_away(self, operation, trash):
        with contextlib.suppress(OSError):
            trash.take(self.temporary, self.temporary / operation)
        self.mkdir(self.archive)
        target = self.archive_file(operation, max(self.archived(operation), default=0) + 1)
        # This replaces nothing: only the holder of this lock makes that name.
        os.rename(self.file(operation), target)

    def finish_archive(self, operation):
        sync_directory(self.archive)
        sync_directory(self.operations)
        os.unlink(f'{self.file(operation)}.lock')
        files = []
        for path in self.archive.iterdir():
            if REGISTRIES in path.name:
                continue  # the limits are those of operations
            with contextlib.suppress(FileNotFoundError):
                files.append((path.stat().st_mtime, path))
        for changed, path in sorted(files, reverse=True)[KEPT:]:
            if changed < time.time() - KEPT_SECONDS:
                path.unlink(missing_ok=True)

    # Locking (§2.3) and editing (§2.4)

    def open_lock(self, path, create, refuse):
        """Open a lock file.

        If it is missing, make it if create() is true, otherwise call refuse().
        """
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.suppress(FileNotFoundError):
            return self.open_new(path, flags | (os.O_CREAT if create() else 0))
        refuse()

    def lock(self, path, create, refuse, seconds):
        deadline = time.monotonic() + seconds
        while True:
            fd = self.open_lock(path, create, refuse)
            owned = True
            try:
                self.check(path, fd)
                owned = False
                flock(fd, deadline)
                owned = True
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(fd), os.lstat(path)):
                        owned = False
                        return fd
            finally:
                if owned:
                    os.close(fd)

    def refuse_missing(self, operation, run=None):
        if run is not None or self.archived(operation):
            raise Refused('over', 'the operation has ended')
        raise Refused('noOperation', 'no such operation')

    def root_of(self, operation, path):
        """Return the root below which a call of the operation may name path (§2.7), or None."""
        root = max((root for root in self.roots if inside(root, path)), key=len, default=None)
        if root is None:
            return None
        if root == str(self.temporary):
            return root if inside(self.temporary / operation, path) else None
        real = pathlib.Path(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        ledger = pathlib.Path(os.path.realpath(self.path))
        spared = [ledger, *(pathlib.Path(os.path.realpath(place))
                            for place in (*self.roots, os.environ.get('HOME')) if place)]
        if ledger in real.parents:
            return None
        return None if any(real == place or real in place.parents for place in spared) else root

    def release(self, trash, operation, resources, found):
        left = []
        for path in resources:
            if as_found(path, found):
                continue
            try:
                root = self.root_of(operation, path)
                if root is None:
                    raise OSError('not a resource of this ledger')
                trash.take(root, path)
            except OSError as error:
                left.append({'path': path, 'error': error.strerror or str(error)})
        return left

    def absent(self, operation, verb, reuse, arguments):
        numbers = self.archived(operation)
        run = arguments.get('run')
        if verb != 'push' or run is not None or numbers and not reuse:
            self.refuse_missing(operation, run)
        arguments['operation_id'] = operation
        if numbers:
            last = decode(self.read_checked(self.archive_file(operation, numbers[-1])), operation)
            arguments['base'] = last['revision']

    @repeated
    def edit(self, operation, verb, observe, seconds, reuse=False, tmp=False, **arguments):
        """Make one edit (§2.4) and return the committed outcome of protocol.apply.

        observe() is called after the file was read: an older observation could misjudge a newer
        heartbeat. With tmp a push makes the temporary directory of its call. Refused: §6; Failed:
        71, 74, 75, 77.
        """
        for name in arguments.get('resources', ()):
            if self.root_of(operation, name) is None:
                raise Refused('resource', f'{name} is not a resource of this ledger')
        path, trash, committed = self.file(operation), Trash(), False
        # An operation without a lock file was copied or restored.
        lock = self.lock(f'{path}.lock', lambda: verb == 'push' or os.path.lexists(path),
                         lambda: self.refuse_missing(operation, arguments.get('run')), seconds)
        temporary = f'{path}.tmp~{secrets.token_hex(8)}'
        try:
            out = self.open_new(temporary)
            try:
                given = None
                try:
                    given = decode(self.read_checked(path), operation)
                except FileNotFoundError:
                    self.absent(operation, verb, reuse, arguments)
                outcome = protocol.apply(
                    verb, given, observe(),
                    lambda resources, found: self.release(trash, operation, resources, found),
                    **arguments)
                if outcome.archived:
                    still_locked(lock, f'{path}.lock')
                    self.put_away(operation, trash)
                    committed = True
                    self.finish_archive(operation)
                elif outcome.operation is not None:
                    here, run = self.temporary / operation, outcome.operation.get('runId')
                    ended = {call: here / call_directory(run, call) for call in outcome.ended}
                    if tmp:
                        own = here / call_directory(run, arguments['call'])
                        if ended.pop(arguments['call'], None):
                            trash.take(self.temporary, own)  # that of the dead call it replaces
                        for place in (self.temporary, here, own):
                            self.mkdir(place)
                    schema = {} if given else {'$schema': SCHEMAS + 'operation.schema.json'}
                    write_all(out, encode(schema | outcome.operation))
                    still_locked(lock, f'{path}.lock')
                    replace(temporary, path)
                    committed = True
                    for spent in ended.values():
                        with contextlib.suppress(OSError):
                            trash.take(self.temporary, spent)
                    if (verb != 'heartbeat'
                            or without_times(given) != without_times(outcome.operation)):
                        sync_directory(self.operations)
                return outcome
            finally:
                os.close(out)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
        except OSError as error:
            raise Failed(71 if committed else status_of(error), str(error)) from error
        finally:
            if not committed and not os.path.lexists(path):
                with contextlib.suppress(LockRemoved):
                    still_locked(lock, f'{path}.lock')
                    os.unlink(f'{path}.lock')
            os.close(lock)
            trash.empty()

    # Groups (§8)

    def group_files(self, group):
        """Return the paths of the orchestrator's file and of the registry."""
        return [self.path / f'{group}.{name}.json' for name in ('orchestrator', 'supervisors')]

    def read_group(self, group):
        """Return both files, decoded; None for a missing one.

        Both are read even for an edit of one, because the edit trusts the other.
        """
        result = []
        decoders = lambda text: groups.decode_orchestrator(text, group), groups.decode_registry
        for path, decode_file in zip(self.group_files(group), decoders):
            try:
                result.append(decode_file(self.read_checked(path)))
            except FileNotFoundError:
                result.append(None)
        return result

    def refuse_group(self):
        raise Refused('noGroup', 'no such group')

    def archive_registry(self, group):
        """Copy the registry to the archive, durably (§10.1)."""
        self.mkdir(self.archive)
        pattern = re.compile(re.escape(group + REGISTRIES) + r'([1-9]\d*)\.json')
        numbers = [int(match[1])
                   for match in map(pattern.fullmatch, os.listdir(self.archive)) if match]
        target = self.archive / f'{group}{REGISTRIES}{max(numbers, default=0) + 1}.json'
        temporary = f'{target}.tmp~{secrets.token_hex(8)}'
        fd = self.open_new(temporary)
        try:
            write_all(fd, self.read_checked(self.group_files(group)[1]).decode('utf-8'))
            # This replaces nothing: only the holder of this lock makes that name.
            os.rename(temporary, target)
        finally:
            os.close(fd)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        sync_directory(self.archive)

    @repeated
    def edit_group(self, group, verb, observe, seconds, **arguments):
        """Make one edit of the registry and return the committed outcome of groups.apply.

        Refused: §12; Failed: 71, 74, 75, 77.
        """
        path, lock_path, committed = self.group_files(group)[1], self.path / f'{group}.lock', False

        def found():
            return any(os.path.lexists(file) for file in self.group_files(group))

        lock = self.lock(lock_path, lambda: verb == 'register' or found(), self.refuse_group,
                         seconds)
        temporary = f'{path}.tmp~{secrets.token_hex(8)}'
        try:
            out = self.open_new(temporary)
            try:
                orchestrator, given = self.read_group(group)
                seen = groups.Observation(**vars(observe()), survivors=survivors)
                outcome = groups.apply(verb, group, orchestrator, given, seen, **arguments)
                if outcome.registry is not None:
                    if outcome.cleared:
                        self.archive_registry(group)
                    write_all(out, groups.encode_registry(outcome.registry))
                    still_locked(lock, lock_path)
                    replace(temporary, path)
                    committed = True
                    if verb != 'beat' or without_times(given) != without_times(outcome.registry):
                        sync_directory(self.path)
                return outcome
            finally:
                os.close(out)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
        except OSError as error:
            raise Failed(71 if committed else status_of(error), str(error)) from error
        finally:
            if not committed and not found():
                with contextlib.suppress(LockRemoved):
                    still_locked(lock, lock_path)
                    os.unlink(lock_path)
            os.close(lock)


def check_id(text, what):
    if not ID.fullmatch(text) or '..' in text:
        raise Failed(64, f'{what} {quote(text)} is not an id')
    return text

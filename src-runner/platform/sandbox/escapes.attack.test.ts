import { quote } from '../../lib/messages.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, open, readFile, readdir, realpath, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { homedir, hostname, networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxedOutcome, SandboxOptions } from './sandbox-types.ts'
import { findSandboxHere, NO_SANDBOX_HERE } from '../../testing/sandbox-here.ts'
import { noSandbox } from './find-sandbox.ts'
import { runSandboxed } from './run-sandboxed.ts'

/**
 * Tries to break out of the real sandbox. Afterwards the output may hold no secret, nothing outside may have changed, and no
 * server outside may have been contacted. Attempts with a `control` also run without a sandbox and must succeed there, so
 * that none passes only because it never works.
 */
const { sandbox, isMissing } = await findSandboxHere('bubblewrap')
const pythonIsHere = existsSync('/usr/bin/python3')
if (!isMissing && !pythonIsHere) console.log(`${NO_SANDBOX_HERE}escapes in Python need /usr/bin/python3`)

const CANARY = `canary-${randomBytes(12).toString('hex')}`
/** Printed by an attempt that can tell that it got through. */
const THROUGH = 'GOT-THROUGH'
const PYTHON = `import ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == 'aarch64'
def call(x64, arm64, *args):
    return libc.syscall(ctypes.c_long(arm64 if arm else x64), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
def through(result):
    if result is not None and result is not False and (result is True or result >= 0): print('GOT-' + 'THROUGH')
def attempt(do):
    try: through(do())
    except OSError as e: print('refused:', e)
`

type Attempt = {
  name: string
  sh?: string
  python?: string
  /** What it does where there is no sandbox. */
  control?: 'leaks' | 'changes' | 'connects'
  limits?: SandboxOptions['limits']
  timeoutMs?: number
  ends?: SandboxedOutcome['ended'][]
}

const attempts: Attempt[] = [
  // Reading what is outside
  { name: 'read by absolute path', sh: 'cat "$SECRET"', control: 'leaks' },
  { name: 'read by ..', sh: 'cat ../outside/secret.txt', control: 'leaks' },
  { name: 'read through a link to the file', sh: 'ln -sf "$SECRET" l1; cat l1', control: 'leaks' },
  { name: 'read through a link to its folder', sh: 'ln -sfn "$OUTSIDE" l2; cat l2/secret.txt', control: 'leaks' },
  { name: 'read through a hard link', sh: 'ln "$SECRET" h1; cat h1', control: 'leaks' },
  { name: 'read through /proc/self/root', sh: 'cat "/proc/self/root$SECRET"', control: 'leaks' },
  { name: 'read through /proc/1/root', sh: 'cat "/proc/1/root$SECRET"' },
  { name: 'read through /proc/self/cwd/..', sh: 'cat /proc/self/cwd/../outside/secret.txt', control: 'leaks' },
  { name: 'read from the home folder', sh: 'cat "$HOME_SECRET"', control: 'leaks' },
  { name: 'list the home folder', sh: 'ls -a "$REAL_HOME" | grep -q . && echo GOT-"THROUGH"', control: 'leaks' },
  { name: 'read the accounts', sh: 'cat /etc/shadow /etc/gshadow /etc/sudoers && echo GOT-"THROUGH"' },
  { name: 'read the closed data folder inside the working folder', sh: 'cat deep/data/secret.txt', control: 'leaks' },
  { name: 'read the closed folder under another name', sh: 'mv deep/data deep/other; cat deep/other/secret.txt' },
  { name: 'read the closed folder after its parent was renamed', sh: 'mv deep other; cat other/data/secret.txt' },
  { name: 'read the closed folder through a hard link', sh: 'ln deep/data/secret.txt h2; cat h2' },
  { name: 'take the cover off the closed folder', sh: 'umount deep/data; umount -l deep; cat deep/data/secret.txt' },
  { name: 'search all of the disk', sh: 'find / -path /proc -prune -o -path /usr -prune -o -name "*secret*" -exec cat {} + 2>/dev/null' },
  { name: 'read the environment of all processes', sh: 'cat /proc/[0-9]*/environ', control: 'leaks' },
  { name: 'read the command lines of all processes', sh: 'cat /proc/[0-9]*/cmdline', control: 'leaks' },
  { name: 'read where other processes are', sh: 'cat /proc/[0-9]*/cwd/secret.txt', control: 'leaks' },
  { name: 'read what other processes hold open', sh: 'cat /proc/$VICTIM/fd/3', control: 'leaks' },
  { name: 'read the environment of the parent', sh: 'cat /proc/$PPID/environ /proc/1/environ; env' },
  {
    name: 'read what descriptors were left open',
    sh: 'for p in self 1; do for f in /proc/$p/fd/*; do case $(readlink $f) in /dev/null|pipe:*|socket:*|anon_inode:*|/proc/*) ;; *) readlink $f; timeout 1 cat $f; ls $f/.. && echo GOT-"THROUGH";; esac; done; done',
  },
  {
    name: 'read the disk and the memory',
    sh: 'for f in /dev/mem /dev/kmem /dev/port /dev/kmsg /proc/kcore /proc/kmsg /dev/sda /dev/vda /dev/nvme0n1 /dev/dm-0; do head -c 16 $f >/dev/null 2>&1 && echo GOT-"THROUGH" $f; done',
  },
  {
    name: 'read what the system keeps',
    sh: 'ls -A /var/lib /var/log /root /home /run /srv /opt /mnt /media /boot 2>/dev/null | grep -v ":$" | grep . && echo GOT-"THROUGH"',
  },
  {
    name: 'ask the agent of SSH',
    sh: 'echo "[$SSH_AUTH_SOCK]" | grep -v "\\[\\]" && echo GOT-"THROUGH"; ls /tmp/ssh-* 2>/dev/null && echo GOT-"THROUGH"; true',
  },
  {
    name: 'ask D-Bus',
    sh: '[ -n "$DBUS_SESSION_BUS_ADDRESS" ] && echo GOT-"THROUGH"; for s in /run/dbus/system_bus_socket /var/run/dbus/system_bus_socket /run/user/*/bus; do [ -e "$s" ] && echo GOT-"THROUGH"; done; true',
  },
  {
    name: 'ask Docker',
    sh: 'for s in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock; do [ -e "$s" ] && echo GOT-"THROUGH"; done; true',
  },
  {
    name: 'read kernel key rings',
    python:
      'through(call(250, 219, 0, -3, 1)); through(call(248, 217, b"user", b"k", b"v", 1, -3)); through(call(249, 218, b"user", b"k", None, -3))',
  },
  {
    name: 'open files by their number',
    python: `
import struct
class H(ctypes.Structure): _fields_ = [('n', ctypes.c_uint), ('t', ctypes.c_int), ('h', ctypes.c_char * 8)]
fd = os.open('.', os.O_RDONLY)
h = H(8, 1, struct.pack('<II', 2, 0))
through(call(304, 265, fd, ctypes.byref(h), os.O_RDONLY))`,
  },

  // Changing what is outside
  { name: 'write by absolute path', sh: 'echo evil > "$TARGET"', control: 'changes' },
  { name: 'write by ..', sh: 'echo evil > ../outside/target.txt', control: 'changes' },
  { name: 'write through a link', sh: 'ln -sf "$TARGET" l3; echo evil > l3', control: 'changes' },
  { name: 'write through a hard link', sh: 'ln "$TARGET" h3 && echo evil >> h3', control: 'changes' },
  { name: 'move a file out', sh: 'echo evil > f; mv f "$OUTSIDE/planted"', control: 'changes' },
  { name: 'make a file outside', sh: 'touch "$OUTSIDE/planted"', control: 'changes' },
  { name: 'delete what is outside', sh: 'rm -rf "$OUTSIDE"; true' },
  { name: 'change who may read it', sh: 'chmod 777 "$TARGET"', control: 'changes' },
  { name: 'write to the home folder', sh: 'echo evil >> "$HOME_SECRET"; echo evil > "$REAL_HOME/.deckhand-planted"' },
  { name: 'write to the shared temporary folders', sh: 'for d in /tmp /var/tmp /dev/shm; do echo evil > "$d/$MARK"; done' },
  {
    name: 'write to the system',
    sh: 'for d in / /usr /usr/bin /usr/local/bin /etc /var /run /boot /dev /proc; do touch "$d/$MARK" 2>/dev/null && echo GOT-"THROUGH" $d; done; true',
  },
  { name: 'write to the closed folder', sh: 'mkdir -p deep/data; echo evil > deep/data/planted; rm -rf deep/data; mv deep deep2' },
  { name: 'move the working folder away', sh: 'mv "$WORK" "$WORK.moved"; rmdir "$WORK"; cd ..; mv work other; ln -s "$OUTSIDE" work' },
  {
    name: 'swap a link while writing through it',
    python: `
def quietly(do, *args):
    try: do(*args)
    except OSError: pass
def write():
    with open('d3/target.txt', 'w') as f: f.write('evil')
    print(open('d3/secret.txt').read())
swapper = os.fork()
if swapper == 0:
    for _ in range(3000):
        quietly(os.symlink, os.environ['OUTSIDE'], 'd2')
        quietly(os.rename, 'd2', 'd3')
        quietly(os.unlink, 'd3')
        quietly(os.mkdir, 'd3')
        quietly(os.unlink, 'd3/target.txt')
        quietly(os.rmdir, 'd3')
    os._exit(0)
while os.waitpid(swapper, os.WNOHANG)[0] == 0: quietly(write)`,
  },
  {
    name: 'leave a program with more rights behind',
    sh: 'cp /bin/sh s; chmod 4755 s; chmod u+s s; install -m 6755 /bin/sh s2; ls -l s s2 | grep "^...s" && echo GOT-"THROUGH"',
  },
  {
    name: 'leave such a program behind in other ways',
    python: `
try: os.close(os.open('s3', os.O_CREAT | os.O_WRONLY, 0o4755)); through(os.stat('s3').st_mode & 0o6000 != 0)
except OSError as e: print('refused:', e)
open('s4', 'w').close()
for n in [(268, 53), (452, 452)]:
    call(*n, -100, b's4', 0o4755, 0)
    through(os.stat('s4').st_mode & 0o6000 != 0)`,
  },
  { name: 'make device files', sh: 'mknod disk b 254 0 && echo GOT-"THROUGH"; mknod mem c 1 1 && echo GOT-"THROUGH"; true' },
  {
    name: 'change the hooks and settings of git',
    sh: 'echo evil > .git/hooks/post-checkout; echo evil >> .git/config; rm -rf .git/hooks; mv .git .git2; mkdir -p .git/hooks; git config core.fsmonitor "touch x"; true',
  },
  {
    name: 'have git run something outside',
    sh: 'git -c core.fsmonitor="touch $OUTSIDE/planted;false" status; git -c core.sshCommand="touch $OUTSIDE/planted" fetch ssh://x/y; git -c alias.x="!touch $OUTSIDE/planted" x',
    control: 'changes',
  },
  { name: 'change who may use the devices', sh: 'chmod 600 /dev/null /dev/zero /dev/urandom /dev/tty' },
  {
    name: 'change the kernel settings',
    sh: 'echo "|$WORK/evil" > /proc/sys/kernel/core_pattern; echo 1 > /proc/sys/vm/drop_caches; echo 1 > /proc/sys/kernel/sysrq; sysctl -w kernel.hostname=evil; cat /proc/sys/kernel/core_pattern | grep evil && echo GOT-"THROUGH"; true',
  },
  {
    name: 'use the emergency keys of the kernel',
    sh: '[ -e /proc/sysrq-trigger ] && echo h > /proc/sysrq-trigger && echo GOT-"THROUGH"; true',
  },
  {
    name: 'use an agent of control groups',
    sh: 'mkdir c; mount -t cgroup -o memory none c && echo GOT-"THROUGH"; mount -t cgroup2 none c && echo GOT-"THROUGH"; [ -e /sys/fs/cgroup ] && echo GOT-"THROUGH"; true',
  },

  // Leaving the namespaces
  {
    name: 'mount something',
    sh: 'mkdir -p m; mount --bind / m && echo GOT-"THROUGH"; mount -t tmpfs none m && echo GOT-"THROUGH"; mount -t proc none m && echo GOT-"THROUGH"; mount -o remount,rw /usr && echo GOT-"THROUGH"; mount -o remount,rw /proc && echo GOT-"THROUGH"; true',
  },
  {
    name: 'mount by the newer calls',
    python: 'through(call(430, 430, b"tmpfs", 0)); through(call(428, 428, -100, b"/", 1)); through(call(442, 442, -100, b"/", 0, None, 0))',
  },
  {
    name: 'make new namespaces',
    sh: 'unshare -Urm sh -c "mount -t tmpfs none /tmp" && echo GOT-"THROUGH"; for n in -U -m -n -p -i -u -C -T; do unshare $n true 2>/dev/null && echo GOT-"THROUGH" $n; done; true',
  },
  {
    name: 'make new namespaces by clone',
    python: `
through(call(272, 97, 0x10000000)); through(call(272, 97, 0x20000))
pid = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0: os._exit(0)
through(pid)
through(call(435, 435, None, 0))`,
  },
  {
    name: 'enter the namespaces of others',
    sh: 'for p in 1 $PPID $VICTIM; do nsenter -t $p -m -n -p -i -u cat "$SECRET" && echo GOT-"THROUGH"; done; true',
  },
  {
    name: 'change the root',
    sh: 'chroot . /bin/sh -c true && echo GOT-"THROUGH"; mkdir -p old; pivot_root . old && echo GOT-"THROUGH"; true',
  },
  {
    name: 'break out of a changed root',
    python: `
d = os.open('/', os.O_RDONLY)
attempt(lambda: os.chroot('.'))
os.fchdir(d)
for _ in range(50): os.chdir('..')
print(os.listdir('.'))
attempt(lambda: print(open('.' + os.environ['SECRET']).read()))`,
  },
  {
    name: 'become another user',
    python:
      'attempt(lambda: os.setuid(os.getuid() + 1) or 1); attempt(lambda: os.setgid(os.getgid() + 1) or 1); attempt(lambda: os.setgroups([0, 4, 6]) or 1)',
  },
  {
    name: 'gain rights through programs that have them',
    sh: 'for c in "su -c id" "sudo -n id" "pkexec id" "newgrp root" "chsh -s /bin/sh"; do timeout 2 $c </dev/null >/dev/null 2>&1 && echo GOT-"THROUGH" $c; done; grep -E "^Cap(Prm|Eff|Bnd):.*[1-9a-f]" /proc/self/status && echo GOT-"THROUGH"; grep -q "NoNewPrivs:.1" /proc/self/status || echo GOT-"THROUGH"; true',
  },
  { name: 'end a process outside', sh: 'kill -9 $VICTIM; true', control: 'changes' },
  { name: 'end a group of processes outside', sh: 'kill -9 -$VICTIM; true', control: 'changes' },
  // Only where the number of this shell proves that it counts from one: a test must not be what goes wrong.
  { name: 'end everything', sh: '[ $$ -lt 20 ] || exit 9; sleep 30 & kill -9 -1; true' },
  {
    name: 'trace other processes',
    python:
      'through(call(101, 117, 16, int(os.environ["VICTIM"]), 0, 0)); through(call(101, 117, 16, 1, 0, 0)); through(call(101, 117, 0x4206, os.getppid(), 0, 0))',
  },
  {
    name: 'read the memory of other processes',
    python: `
for pid in (1, int(os.environ['VICTIM'])):
    attempt(lambda: os.open('/proc/%d/mem' % pid, os.O_RDWR) if pid != 1 else -1)
    buffer = ctypes.create_string_buffer(64)
    class V(ctypes.Structure): _fields_ = [('p', ctypes.c_void_p), ('n', ctypes.c_size_t)]
    v = V(ctypes.addressof(buffer), 64)
    through(call(310, 270, pid, ctypes.byref(v), 1, ctypes.byref(v), 1, 0))
    through(call(438, 438, pid, 1, 0))`,
  },
  {
    name: 'type into the terminal',
    python: `
import fcntl, pty
m, s = pty.openpty()
for fd in (0, 1, 2, s):
    for request in (0x5412, 0x541c):
        try: fcntl.ioctl(fd, request, b'x'); through(1)
        except OSError as e: print('refused:', e)
attempt(lambda: os.open('/dev/tty', os.O_RDWR))`,
  },
  { name: 'set the clock', python: 'attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time() - 1) or 1)' },
  { name: 'rename the machine', sh: 'hostname evil && echo GOT-"THROUGH"; domainname evil 2>/dev/null && echo GOT-"THROUGH"; true' },
  {
    name: 'use rarely used parts of the kernel',
    python: `
b = ctypes.create_string_buffer(256)
for n in [(321, 280), (298, 241), (425, 425), (300, 262), (103, 116), (313, 273), (175, 105), (246, 104), (163, 89), (167, 224)]: through(call(*n, 0, ctypes.byref(b), 128, 0, 0))
through(call(323, 282, 1))`,
  },
  { name: 'load a module', sh: 'insmod x.ko 2>/dev/null && echo GOT-"THROUGH"; modprobe dummy 2>/dev/null && echo GOT-"THROUGH"; true' },
  // With an invalid key: the kernel returns EINVAL to a caller with permission, and EPERM to others.
  { name: 'restart the machine', python: 'through(call(169, 142, 0, 0, 0, 0)); through(ctypes.get_errno() != 1)' },

  // Reaching others
  {
    name: 'connect to 127.0.0.1',
    python: 'print(socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 2).recv(200))',
    control: 'connects',
  },
  {
    name: 'connect to 127.0.0.1 from the shell',
    sh: 'timeout 3 bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT; head -c 40 <&3"',
    control: 'connects',
  },
  {
    name: 'connect to localhost as 0.0.0.0',
    python: 'print(socket.create_connection(("0.0.0.0", int(os.environ["PORT"])), 2).recv(200))',
    control: 'connects',
  },
  {
    name: 'connect to localhost as IPv4 in IPv6',
    python:
      's = socket.socket(socket.AF_INET6); s.settimeout(2); s.connect(("::ffff:127.0.0.1", int(os.environ["PORT"]))); print(s.recv(200))',
    control: 'connects',
  },
  {
    name: "connect to the machine's own address",
    python: 'print(socket.create_connection((os.environ["LAN"], int(os.environ["PORT"])), 2).recv(200))',
    control: 'connects',
  },
  {
    name: 'send a datagram',
    python:
      's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("127.0.0.1", int(os.environ["UDP"]))); s.settimeout(1); print(s.recv(100))',
    control: 'connects',
  },
  {
    name: 'connect to a socket file',
    python: 's = socket.socket(socket.AF_UNIX); s.connect(os.environ["SOCKET"]); print(s.recv(200))',
    control: 'connects',
  },
  {
    name: 'connect to a socket without a file',
    python: 's = socket.socket(socket.AF_UNIX); s.connect("\\0" + os.environ["ABSTRACT"]); print(s.recv(200))',
    control: 'connects',
  },
  { name: 'ask the cloud for its credentials', python: 'attempt(lambda: socket.create_connection(("169.254.169.254", 80), 2).fileno())' },
  {
    name: 'reach the network',
    python:
      'attempt(lambda: socket.create_connection(("192.0.2.1", 80), 2).fileno()); attempt(lambda: len(socket.getaddrinfo("example.com", 80))); through(any(name != "lo" for _, name in socket.if_nameindex()))',
  },
  {
    name: 'open raw sockets',
    python:
      'attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()); attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno())',
  },
  {
    name: 'open sockets to the virtual machine and the kernel',
    python:
      'attempt(lambda: socket.socket(40, socket.SOCK_STREAM).fileno()); attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET).fileno()); attempt(lambda: socket.socket(16, socket.SOCK_RAW, 9).fileno()); attempt(lambda: socket.socket(16, socket.SOCK_RAW, 15).fileno())',
  },

  // Staying on
  {
    name: 'outlive the command in a session of its own',
    sh: 'setsid sleep 98765 >/dev/null 2>&1 & nohup sleep 98765 >/dev/null 2>&1 & (setsid sh -c "sleep 98765 & disown" &) ; echo started',
  },
  {
    name: 'be started by the system later',
    sh: 'echo "* * * * * touch $TARGET" | crontab - && echo GOT-"THROUGH"; echo "touch $TARGET" | at now 2>/dev/null && echo GOT-"THROUGH"; systemd-run --user touch "$TARGET" && echo GOT-"THROUGH"; true',
  },

  // Taking too much
  {
    name: 'fork without end',
    sh: 'bash -c ":(){ :|:& };:; wait; sleep 30"',
    limits: { processes: 128 },
    timeoutMs: 5_000,
    ends: ['limit', 'timeout'],
  },
  {
    name: 'fork forever and ignore SIGTERM',
    python: `
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try: os.fork()
    except OSError: time.sleep(0.01)`,
    limits: { processes: 128 },
    timeoutMs: 5_000,
    ends: ['limit', 'timeout'],
  },
  {
    name: 'take all memory in one process',
    python: 'a = []\nwhile True: a.append(bytearray(20_000_000))',
    limits: { memoryBytesEach: 300_000_000 },
    ends: ['exited'],
  },
  {
    name: 'take all memory in many processes',
    python: `
for _ in range(8): os.fork()
a = bytearray(40_000_000)
for i in range(0, len(a), 4096): a[i] = 1
time.sleep(600)`,
    limits: { memoryBytes: 400_000_000, processes: 400 },
    ends: ['limit', 'exited'],
  },
  {
    name: 'write a file of 2 GB',
    sh: 'head -c 2147483648 /dev/zero > big; test $(stat -c %s big) -lt 2147483648 || echo GOT-"THROUGH"; rm big',
    limits: { fileBytes: 50_000_000 },
  },
  {
    name: 'write a file of 2 GB into the temporary folders',
    sh: 'for d in /tmp /dev/shm "$HOME"; do head -c 2147483648 /dev/zero > $d/big; test $(stat -c %s $d/big) -lt 100000000 || echo GOT-"THROUGH"; done',
    limits: { temporaryBytes: 20_000_000 },
  },
  { name: 'write output without end', sh: 'yes', ends: ['limit'] },
  { name: 'write one line of output without end', sh: 'cat /dev/zero', ends: ['limit'] },
  { name: 'never end', sh: 'trap "" TERM INT HUP; while :; do :; done', timeoutMs: 300, ends: ['timeout'] },
  { name: 'wait for input', sh: 'cat; read x; echo over', ends: ['exited'] },
]

type Rig = {
  base: string
  work: string
  outside: string
  victim: ChildProcess
  env: Record<string, string>
  connections(): number
  close(): Promise<void>
}
let rig: Rig

const homeSecret = join(homedir(), `.deckhand-secret-${randomBytes(4).toString('hex')}`)
const mark = `deckhand-mark-${randomBytes(6).toString('hex')}`

async function buildRig(): Promise<Rig> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'deckhand-escape-')))
  let connections = 0
  const servers: Server[] = []
  const listen = async (options: object) => {
    const server = createServer((socket) => {
      connections++
      socket.on('error', () => {})
      socket.end(CANARY)
    })
    await new Promise<void>((resolve) => void server.listen(options, resolve))
    servers.push(server)
    return server.address()
  }
  const outside = join(base, 'outside')
  await mkdir(outside)
  const port = ((await listen({ host: '::', port: 0 })) as { port: number }).port
  const socketPath = join(outside, 'socket')
  await listen({ path: socketPath })
  const abstract = `deckhand-${randomBytes(6).toString('hex')}`
  await listen({ path: `\0${abstract}` })
  const udp = createSocket('udp4')
  udp.on('message', (_, from) => {
    connections++
    udp.send(CANARY, from.port, from.address)
  })
  await new Promise<void>((resolve) => void udp.bind(0, '127.0.0.1', resolve))
  const lan = Object.values(networkInterfaces()).flat().find((one) => one?.family === 'IPv4' && !one.internal)?.address ?? '127.0.0.1' // prettier-ignore
  await writeFile(homeSecret, CANARY)
  const secret = join(outside, 'secret.txt')
  await writeFile(secret, CANARY)
  const held = await open(secret)
  const victim = spawn('/bin/sleep', ['3600'], {
    argv0: CANARY,
    cwd: outside,
    env: { CANARY },
    stdio: ['ignore', 'ignore', 'ignore', held.fd],
    detached: true,
  })
  await new Promise((resolve) => victim.once('spawn', resolve))
  await held.close()
  return {
    base,
    work: join(base, 'work'),
    outside,
    victim,
    env: {
      SECRET: secret,
      TARGET: join(outside, 'target.txt'),
      OUTSIDE: outside,
      WORK: join(base, 'work'),
      HOME_SECRET: homeSecret,
      REAL_HOME: homedir(),
      VICTIM: String(victim.pid),
      PORT: String(port),
      UDP: String(udp.address().port),
      LAN: lan,
      SOCKET: socketPath,
      ABSTRACT: abstract,
      MARK: mark,
    },
    connections: () => connections,
    async close() {
      victim.kill('SIGKILL')
      udp.close()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
      await rm(base, { recursive: true, force: true })
      await rm(homeSecret, { force: true })
    },
  }
}

/** Restores everything before each attempt. */
async function restore() {
  await rm(rig.work, { recursive: true, force: true })
  await Promise.all(['planted', 'target.txt'].map((name) => rm(join(rig.outside, name), { recursive: true, force: true })))
  await mkdir(join(rig.work, 'deep/data'), { recursive: true })
  await writeFile(join(rig.work, 'deep/data/secret.txt'), CANARY)
  await mkdir(join(rig.work, '.git/hooks'), { recursive: true })
  await writeFile(join(rig.work, '.git/config'), '[core]\n\trepositoryformatversion = 0\n')
  await writeFile(join(rig.work, '.git/hooks/pre-commit'), '#!/bin/sh\n')
  await mkdir(join(rig.work, '.git/objects'))
  await mkdir(join(rig.work, '.git/refs'))
  await writeFile(join(rig.work, '.git/HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(rig.outside, 'target.txt'), 'as it was', { mode: 0o600 })
}

/** Everything that an escape could change, as one value. */
async function worldOutside() {
  const files: Record<string, string> = {}
  const place = async (path: string) => {
    const stats = await lstat(path).catch(() => null)
    if (stats === null) return
    const content = stats.isFile() ? await readFile(path, 'utf8') : ''
    files[path] = `${stats.mode.toString(8)} ${stats.nlink > 1 && stats.isFile() ? `${stats.nlink} links ` : ''}${content}`
    if (stats.isDirectory()) for (const name of await readdir(path)) await place(join(path, name))
  }
  for (const path of [rig.outside, join(rig.work, 'deep'), join(rig.work, '.git/hooks'), join(rig.work, '.git/config'), homeSecret])
    await place(path)
  const planted = ['/tmp', '/var/tmp', '/dev/shm', '/', '/usr', '/etc', homedir()].filter((folder) => existsSync(join(folder, mark)))
  const besides = await readdir(rig.base)
  const devices = ['/dev/null', '/dev/zero', '/dev/urandom', '/dev/tty'].map((path) => statSync(path).mode)
  return {
    files,
    planted,
    plantedAtHome: existsSync(join(homedir(), '.deckhand-planted')),
    besides,
    devices,
    hostname: hostname(),
    corePattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8'),
    // A process that is dead and not yet waited for has no command line any more.
    victim: readProc(`${rig.victim.pid}/cmdline`).includes(CANARY) ? 'alive' : 'dead',
    leftBehind: readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && readProc(`${pid}/cmdline`).includes('98765')).length,
  }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

const unsandboxed = noSandbox(quote('This is the control.'), null)

function run(attempt: Attempt, inSandbox: boolean, network = false): Promise<SandboxedOutcome> {
  const command = attempt.python === undefined ? ['/bin/sh', '-c', attempt.sh!] : ['/usr/bin/python3', '-c', PYTHON + attempt.python]
  return runSandboxed({
    sandbox: inSandbox ? sandbox : unsandboxed,
    command: command as [string, ...string[]],
    folder: rig.work,
    writable: [rig.work],
    closed: [join(rig.work, 'deep/data')],
    env: rig.env,
    network,
    timeoutMs: attempt.timeoutMs ?? 60_000,
    keepBytes: 8_000_000,
    ...(attempt.limits === undefined ? {} : { limits: attempt.limits }),
  }).outcome
}

const hasEscaped = (output: string) => output.includes(CANARY) || output.includes(THROUGH)

describe.skipIf(isMissing)('the sandbox', () => {
  beforeAll(async () => {
    rig = await buildRig()
    process.env['DECKHAND_CANARY'] = CANARY
    process.env['SSH_AUTH_SOCK'] = rig.env['SOCKET']!
  })
  afterAll(async () => {
    delete process.env['DECKHAND_CANARY']
    delete process.env['SSH_AUTH_SOCK']
    await rig.close()
  })
  beforeEach(restore)

  it.each(attempts.filter(({ python }) => python === undefined || pythonIsHere))('holds against: $name', async (attempt) => {
    const before = await worldOutside()
    const connections = rig.connections()
    const outcome = await run(attempt, true)
    expect(hasEscaped(outcome.output), outcome.output).toBe(false)
    expect(rig.connections()).toBe(connections)
    expect(await worldOutside()).toEqual(before)
    expect(attempt.ends ?? ['exited']).toContain(outcome.ended)
  })

  const reaching = attempts.filter(({ control, python }) => control === 'connects' && (python === undefined || pythonIsHere))
  it.each(reaching)('holds with the network open against: $name', async (attempt) => {
    const connections = rig.connections()
    const outcome = await run(attempt, true, true)
    expect(hasEscaped(outcome.output), outcome.output).toBe(false)
    expect(rig.connections()).toBe(connections)
  })

  const controls = attempts.filter(({ control, python }) => control !== undefined && (python === undefined || pythonIsHere))
  it.each(controls)('is needed against: $name', async (attempt) => {
    const before = await worldOutside()
    const connections = rig.connections()
    const outcome = await run(attempt, false)
    if (attempt.control === 'leaks') expect(hasEscaped(outcome.output), outcome.output).toBe(true)
    if (attempt.control === 'connects') expect(rig.connections()).toBeGreaterThan(connections)
    if (attempt.control === 'changes') await expect.poll(() => worldOutside()).not.toEqual(before)
    if ((await worldOutside()).victim === 'dead') {
      await rig.close()
      rig = await buildRig()
    }
  })

  const socketPlaces = ['.s.PGSQL.5432', 'a/b/supervisor.sock', 'node_modules/a/socket', '.git/annex/ssh/socket', '.vscode/a/socket']
  it.skipIf(!pythonIsHere).each([...socketPlaces, 'read/.git/socket'])('reaches no server at a socket in its folder: %s', async (place) => {
    const [folder, readable] = [join(rig.work, 'project'), join(rig.work, 'read')]
    const path = place.startsWith('read/') ? join(rig.work, place) : join(folder, place)
    await Promise.all([
      mkdir(join(path, '..'), { recursive: true }),
      mkdir(folder, { recursive: true }),
      mkdir(readable, { recursive: true }),
    ])
    let connections = 0
    const server = createServer((socket) => void (connections++, socket.on('error', () => {}).end(CANARY)))
    await new Promise<void>((resolve) => void server.listen(path, resolve))
    const python = `${PYTHON}
def at(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    print(s.recv(200))
def quietly(do, *args):
    try: do(*args)
    except OSError as e: print('refused:', e)
path = os.environ['AT']
for do in [os.rename, os.link]:
    quietly(do, path, 'moved')
    quietly(at, 'moved')
quietly(os.rename, os.path.dirname(path), 'elsewhere')
quietly(at, 'elsewhere/' + os.path.basename(path))
quietly(at, path)`
    const attack = (state: typeof sandbox) =>
      runSandboxed({
        sandbox: state,
        command: ['/usr/bin/python3', '-c', python],
        folder,
        writable: [folder],
        readable: [readable],
        env: { AT: path },
        timeoutMs: 20_000,
      }).outcome
    try {
      const { output } = await attack(sandbox)
      expect(hasEscaped(output), output).toBe(false)
      expect(connections).toBe(0)
      await attack(unsandboxed)
      expect(connections).toBeGreaterThan(0)
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  it('opens nothing when its folder is repeatedly replaced by a link while it is built', async () => {
    const sub = join(rig.work, 'sub')
    let isOver = false
    const swapping = (async () => {
      while (!isOver) {
        await mkdir(sub).catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
        await rename(sub, join(rig.work, 'aside')).catch(() => {})
        await symlink(rig.outside, sub).catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
        await unlink(sub).catch(() => {})
        await rm(join(rig.work, 'aside'), { recursive: true, force: true })
      }
    })()
    const before = await worldOutside()
    let refused = 0
    try {
      for (let round = 0; round < 40; round++) {
        const outcome = await runSandboxed({
          sandbox,
          command: ['/bin/sh', '-c', 'cat secret.txt; echo evil > target.txt; ls'],
          folder: sub,
          writable: [sub],
          timeoutMs: 5_000,
        }).outcome.catch((thrown: Error) => thrown)
        if (outcome instanceof Error) refused++
        else expect(hasEscaped(outcome.output), outcome.output).toBe(false)
      }
    } finally {
      isOver = true
      await swapping
    }
    expect((await worldOutside()).files[join(rig.outside, 'target.txt')]).toBe(before.files[join(rig.outside, 'target.txt')])
    expect(refused).toBeGreaterThan(0)
  })
})

/**
 * The system calls that a sandboxed process may not make, as a classic BPF program. Namespaces already limit most of them. The
 * filter also keeps rarely tested kernel code out of reach, and what no namespace covers: key rings, VM sockets, terminal input.
 */
export type FilteredMachine = 'x64' | 'arm64'

/** Numbers from <asm/unistd.h>. null: the machine has no such call. */
const REFUSED: Record<string, readonly [x64: number | null, arm64: number]> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
}

/**
 * Refused with ENOSYS, so that programs fall back to older calls. `clone3` and `openat2` pass their flags behind a pointer, which
 * a filter cannot read; `io_uring` makes calls that no filter sees.
 */
const UNKNOWN: Record<string, readonly [x64: number, arm64: number]> = {
  clone3: [435, 435],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  openat2: [437, 437],
}

/** A set-user-id file has no effect in the sandbox, but it would outside, on the disk that the sandbox leaves behind. */
const SET_ID_BITS = 0o6000
const NEW_NAMESPACES = 0x7e02_0080 // CLONE_NEW{USER,PID,NET,UTS,IPC,NS,CGROUP,TIME}
/** In `clone` the low byte is a signal, so without CLONE_NEWTIME. */
const NEW_NAMESPACES_OF_CLONE = 0x7e02_0000
/** O_CREAT and the bit of O_TMPFILE. */
const CREATES = 0o100 | 0o2000_0000
type BitRule = {
  numbers: readonly [x64: number | null, arm64: number | null]
  arg: number
  bits: number
  onlyWith?: [arg: number, bits: number]
}
const REFUSED_BITS: readonly BitRule[] = [
  { numbers: [56, 220], arg: 0, bits: NEW_NAMESPACES_OF_CLONE }, // clone
  { numbers: [272, 97], arg: 0, bits: NEW_NAMESPACES }, // unshare
  { numbers: [90, null], arg: 1, bits: SET_ID_BITS }, // chmod
  { numbers: [91, 52], arg: 1, bits: SET_ID_BITS }, // fchmod
  { numbers: [268, 53], arg: 2, bits: SET_ID_BITS }, // fchmodat
  { numbers: [452, 452], arg: 2, bits: SET_ID_BITS }, // fchmodat2
  { numbers: [85, null], arg: 1, bits: SET_ID_BITS }, // creat
  { numbers: [133, null], arg: 1, bits: SET_ID_BITS }, // mknod
  { numbers: [259, 33], arg: 2, bits: SET_ID_BITS }, // mknodat
  // Without O_CREAT the mode is undefined.
  { numbers: [2, null], arg: 2, bits: SET_ID_BITS, onlyWith: [1, CREATES] }, // open
  { numbers: [257, 56], arg: 3, bits: SET_ID_BITS, onlyWith: [2, CREATES] }, // openat
]

const IOCTL = [16, 29] as const
/** TIOCSTI and TIOCLINUX type into the terminal. */
const REFUSED_IOCTLS = [0x5412, 0x541c]
const SOCKET = [41, 198] as const
/** Local, IPv4 and IPv6. VM sockets (40) would reach the host of this machine past every namespace. */
const SOCKET_FAMILIES = [1, 2, 10]
const AF_NETLINK = 16

const AUDIT_ARCH = { x64: 0xc000_003e, arm64: 0xc000_00b7 }
/** Calls of the x32 ABI have this bit and other numbers. */
const X32_BIT = 0x4000_0000

const EPERM = 1
const ENOSYS = 38
const ALLOW = 0x7fff_0000
const KILL = 0x8000_0000
const refuseWith = (errno: number) => 0x0005_0000 | errno

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number]
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const ret = (value: number): Instruction => [0x06, 0, 0, value]
const jumpIf = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 }
/** Skips `count` instructions unless the comparison holds. */
const unless = (kind: keyof typeof jumpIf, value: number, count: number): Instruction => [jumpIf[kind], 0, count, value]

const NUMBER_AT = 0
const ARCH_AT = 4
/** The low half of an argument. The kernel reads all of these as `int`. */
const argAt = (index: number) => 16 + 8 * index

/** For bubblewrap's `--seccomp`; null: the call numbers of this machine are not known. */
export function seccompFilter(machine: string): Buffer | null {
  if (machine !== 'x64' && machine !== 'arm64') return null
  return assemble(programFor(machine))
}

function programFor(machine: FilteredMachine): Instruction[] {
  const column = machine === 'x64' ? 0 : 1
  const of = (numbers: readonly [number | null, number | null]) => numbers[column]!
  const has = (numbers: readonly [number | null, number | null]) => numbers[column] !== null
  const answerTo = (numbers: readonly [number | null, number | null], answer: number) =>
    has(numbers) ? [unless('equal', of(numbers), 1), ret(answer)] : []

  /** For one call. `body` returns, or ends with the call number still loaded. */
  const block = (number: number, body: Instruction[]): Instruction[] => [unless('equal', number, body.length), ...body]

  return [
    load(ARCH_AT),
    [jumpIf.equal, 1, 0, AUDIT_ARCH[machine]],
    ret(KILL),
    load(NUMBER_AT),
    ...(machine === 'x64' ? [unless('atLeast', X32_BIT, 1), ret(refuseWith(ENOSYS))] : []),
    ...Object.values(REFUSED).flatMap((numbers) => answerTo(numbers, refuseWith(EPERM))),
    ...Object.values(UNKNOWN).flatMap((numbers) => answerTo(numbers, refuseWith(ENOSYS))),
    ...REFUSED_BITS.filter(({ numbers }) => has(numbers)).flatMap(({ numbers, arg, bits, onlyWith }) =>
      block(of(numbers), [
        ...(onlyWith ? [load(argAt(onlyWith[0])), unless('anyBit', onlyWith[1], 3)] : []),
        load(argAt(arg)),
        unless('anyBit', bits, 1),
        ret(refuseWith(EPERM)),
        ret(ALLOW),
      ]),
    ),
    ...block(of(IOCTL), [
      load(argAt(1)),
      ...REFUSED_IOCTLS.flatMap((request) => [unless('equal', request, 1), ret(refuseWith(EPERM))]),
      ret(ALLOW),
    ]),
    ...block(of(SOCKET), [
      load(argAt(0)),
      ...SOCKET_FAMILIES.flatMap((family) => [unless('equal', family, 1), ret(ALLOW)]),
      // Only protocol 0 of netlink sockets, which lists network interfaces.
      unless('equal', AF_NETLINK, 3),
      load(argAt(2)),
      unless('equal', 0, 1),
      ret(ALLOW),
      ret(refuseWith(EPERM)),
    ]),
    ret(ALLOW),
  ]
}

/** `struct sock_filter`: u16, u8, u8, u32, little endian on both machines. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    const at = index * 8
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(jumpTrue, at + 2)
    bytes.writeUInt8(jumpFalse, at + 3)
    bytes.writeUInt32LE(value >>> 0, at + 4)
  })
  return bytes
}

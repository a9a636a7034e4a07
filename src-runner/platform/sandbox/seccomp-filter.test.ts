import { describe, expect, it } from 'vitest'
import { seccompFilter } from './seccomp-filter.ts'

const X64 = 0xc000_003e
const ARM64 = 0xc000_00b7
const RESULTS: Record<number, string> = { 0x7fff0000: 'allow', 0x80000000: 'kill', 0x50001: 'EPERM', 0x50026: 'ENOSYS' }

/** Runs the BPF program as the kernel would. */
function ask(machine: 'x64' | 'arm64', number: number, args: number[] = [], arch = machine === 'x64' ? X64 : ARM64): string {
  const program = seccompFilter(machine)!
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(arch, 4)
  args.forEach((arg, i) => data.writeBigUInt64LE(BigInt(arg), 16 + 8 * i))
  let accumulator = 0
  for (let at = 0; at < program.length / 8; at++) {
    const [code, jumpTrue, jumpFalse, value] = [
      program.readUInt16LE(at * 8),
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
      program.readUInt32LE(at * 8 + 4),
    ]
    if (code === 0x20) accumulator = data.readUInt32LE(value)
    else if (code === 0x06) return RESULTS[value] ?? value.toString(16)
    else {
      const holds = { 0x15: accumulator === value, 0x35: accumulator >= value, 0x45: (accumulator & value) !== 0 }[code]
      expect(holds, `instruction ${code.toString(16)}`).toBeDefined()
      at += holds ? jumpTrue : jumpFalse
    }
  }
  return 'fell through'
}

describe('the seccomp filter', () => {
  it.each<[string, 'x64' | 'arm64', number, number[], string]>([
    ['read', 'x64', 0, [], 'allow'],
    ['execve', 'x64', 59, [], 'allow'],
    ['mount', 'x64', 165, [], 'EPERM'],
    ['mount', 'arm64', 40, [], 'EPERM'],
    ['a call that is mount elsewhere', 'arm64', 165, [], 'allow'],
    ['ptrace', 'x64', 101, [], 'EPERM'],
    ['keyctl', 'arm64', 219, [], 'EPERM'],
    ['bpf', 'x64', 321, [], 'EPERM'],
    ['io_uring_setup', 'x64', 425, [], 'ENOSYS'],
    ['clone3', 'arm64', 435, [], 'ENOSYS'],
    ['openat2', 'x64', 437, [], 'ENOSYS'],
    ['fork by clone', 'x64', 56, [17], 'allow'],
    ['a thread by clone', 'x64', 56, [0x3d0f00], 'allow'],
    ['a user namespace by clone', 'x64', 56, [0x10000011], 'EPERM'],
    ['a mount namespace by clone', 'arm64', 220, [0x20011], 'EPERM'],
    ['unshare of files', 'x64', 272, [0x400], 'allow'],
    ['unshare of the network', 'x64', 272, [0x40000000], 'EPERM'],
    ['unshare of the clock', 'x64', 272, [0x80], 'EPERM'],
    ['chmod 755', 'x64', 90, [0, 0o755], 'allow'],
    ['chmod 4755', 'x64', 90, [0, 0o4755], 'EPERM'],
    ['fchmodat 2755', 'arm64', 53, [0, 0, 0o2755], 'EPERM'],
    ['fchmodat2 4755', 'x64', 452, [0, 0, 0o4755], 'EPERM'],
    ['open to create 4755', 'x64', 2, [0, 0o101, 0o4755], 'EPERM'],
    ['open to read, with anything for a mode', 'x64', 2, [0, 0, 0o4755], 'allow'],
    ['openat to create 644', 'x64', 257, [0, 0, 0o101, 0o644], 'allow'],
    ['openat of a nameless file 6755', 'arm64', 56, [0, 0, 0o20040002, 0o6755], 'EPERM'],
    ['ioctl for the size of the window', 'x64', 16, [0, 0x5413], 'allow'],
    ['TIOCSTI', 'x64', 16, [0, 0x5412], 'EPERM'],
    ['TIOCSTI with bits that the kernel ignores', 'x64', 16, [0, 0x1_0000_5412], 'EPERM'],
    ['TIOCLINUX', 'arm64', 29, [0, 0x541c], 'EPERM'],
    ['a local socket', 'x64', 41, [1, 1, 0], 'allow'],
    ['an IPv6 socket', 'arm64', 198, [10, 1, 0], 'allow'],
    ['the list of interfaces', 'x64', 41, [16, 3, 0], 'allow'],
    ['the audit log', 'x64', 41, [16, 3, 9], 'EPERM'],
    ['a packet socket', 'x64', 41, [17, 3, 0], 'EPERM'],
    ['a socket to the host of a virtual machine', 'x64', 41, [40, 1, 0], 'EPERM'],
    ['a call of the x32 ABI', 'x64', 0x4000_0000 + 165, [], 'ENOSYS'],
    ['a call nobody knows yet', 'x64', 999, [], 'allow'],
  ])('decides %s on %s (%i %j): %s', (_, machine, number, args, result) => expect(ask(machine, number, args)).toBe(result))

  it('kills a process that uses the calls of another machine', () => expect(ask('x64', 165, [], 0x4000_0003)).toBe('kill'))

  it('is short enough for the kernel', () => expect(seccompFilter('x64')!.length / 8).toBeLessThan(4096))

  it('is missing for an unknown machine', () => expect(seccompFilter('riscv64')).toBeNull())
})

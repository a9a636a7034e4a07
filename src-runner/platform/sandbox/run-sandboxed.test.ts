import { quote } from '../../lib/messages.ts'
import { existsSync, readFileSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, statfs, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withGrowingLimit } from '../../testing/growing-limit.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import type { SandboxOptions } from './sandbox-types.ts'
import { findSandboxHere } from '../../testing/sandbox-here.ts'
import { noSandbox } from './find-sandbox.ts'
import { createDiskMeter, runSandboxed } from './run-sandboxed.ts'

const { sandbox: found, isMissing } = await findSandboxHere()
const unsandboxed = noSandbox(quote('There is none in this test.'), null)
const both = [...(isMissing ? [] : [['in the sandbox', found] as const]), ['without a sandbox', unsandboxed] as const]

/** Only ends what hangs, however busy the machine is. */
const LIMIT_MS = 120_000

async function runIn(sandbox: SandboxOptions['sandbox'], script: string, more: Partial<SandboxOptions> = {}) {
  const folder = (await scratchFolder('Work')).path
  return {
    folder,
    process: runSandboxed({ sandbox, command: ['/bin/sh', '-c', script], folder, writable: [folder], timeoutMs: LIMIT_MS, ...more }),
  }
}
const resultOf = async (sandbox: SandboxOptions['sandbox'], script: string, more: Partial<SandboxOptions> = {}) =>
  (await runIn(sandbox, script, more)).process.outcome

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe.skipIf(process.platform === 'win32').each(both)('a command %s', (name, sandbox) => {
  it('returns its output and exit code', async () => {
    expect(await resultOf(sandbox, 'echo hello; exit 3')).toMatchObject({
      ended: 'exited',
      exitCode: 3,
      signal: null,
      limit: null,
      output: 'hello\n',
      outputBytes: 6,
    })
  })

  it('keeps the order of both streams', async () => {
    const script = 'for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done'
    expect((await resultOf(sandbox, script)).output).toBe([1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join(''))
  })

  it('can open its streams by name', async () =>
    expect((await resultOf(sandbox, 'echo a > /dev/stdout; echo b > /dev/stderr')).output).toBe('a\nb\n'))

  it('gets its arguments unchanged', async () => {
    const args = ['-n', '$(id)', 'a b', '*', 'new\nline', "it's", '"', '\\', '', '--', 'ünï€']
    const folder = (await scratchFolder('Work')).path
    const { output } = await runSandboxed({
      sandbox,
      command: ['/usr/bin/printf', '[%s]', ...args],
      folder,
      writable: [folder],
      timeoutMs: LIMIT_MS,
    }).outcome
    expect(output).toBe(args.map((arg) => `[${arg}]`).join(''))
  })

  it('starts in its folder and can write there', async () => {
    const { folder, process } = await runIn(sandbox, 'pwd; echo content > made')
    expect((await process.outcome).output).toBe(`${folder}\n`)
    expect(await readFile(join(folder, 'made'), 'utf8')).toBe('content\n')
  })

  it('has no input', async () => expect(await resultOf(sandbox, 'cat; echo over')).toMatchObject({ output: 'over\n', exitCode: 0 }))

  it('gets a short, fixed list of variables', async () => {
    vi.stubEnv('SECRET_OF_THE_RUNNER', 'x')
    vi.stubEnv('LD_PRELOAD', '/missing/evil.so')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { output } = await resultOf(sandbox, '/usr/bin/env', { env: { ADDED: 'yes' } })
    const names = output.trim().split('\n').map((line) => line.split('=')[0]!) // prettier-ignore
    expect(names).toContain('ADDED')
    const known = [
      'ADDED',
      'GIT_PAGER',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LANG',
      'LC_ALL',
      'LOGNAME',
      'NO_COLOR',
      'PAGER',
      'PATH',
      'PWD',
      'OLDPWD',
      'SHLVL',
      'TERM',
      'TMPDIR',
      'TZ',
      'USER',
      '_',
      '__CF_USER_TEXT_ENCODING',
    ]
    expect(names.filter((variable) => !known.includes(variable))).toEqual([])
    expect(output).not.toContain(`HOME=${homedir()}\n`)
  })

  it('reports the signal that ended it', async () =>
    expect(await resultOf(sandbox, 'kill -9 $$')).toMatchObject({ ended: 'exited', exitCode: 137, signal: 'SIGKILL' }))

  it('is stopped at its timeout and keeps its output', async () => {
    const outcome = await withGrowingLimit(
      (timeoutMs) => resultOf(sandbox, 'echo begun; sleep 300; echo over', { timeoutMs }),
      ({ output }) => output !== '',
    )
    expect(outcome).toMatchObject({ ended: 'timeout', exitCode: null, output: 'begun\n' })
  })

  it('may clean up when it is stopped', async () => {
    const script = "trap 'echo tidy; exit' TERM; echo ready; while :; do sleep 0.05; done"
    const { output } = await withGrowingLimit(
      (timeoutMs) => resultOf(sandbox, script, { timeoutMs }),
      (outcome) => outcome.output.includes('tidy'),
    )
    expect(output).toContain('tidy')
  })

  it('dies with all its descendants when it is cancelled', async () => {
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const word = `43${Math.floor(Math.random() * 1e6)}`
    let shown = ''
    const script = `trap '' TERM; for i in 1 2 3; do sh -c "trap '' TERM; sleep ${word}.$i & wait; sleep ${word}" & done; echo ready; wait; wait`
    const { process } = await runIn(sandbox, script, { signal: stop.signal, onOutput: (text) => void (shown += text) })
    await expect.poll(() => shown).toContain('ready')
    if (existsSync('/proc')) await expect.poll(async () => (await sleepers(word)).length).toBeGreaterThanOrEqual(3)
    const pids = await sleepers(word)
    stop.abort()
    expect(await process.outcome).toMatchObject({ ended: 'cancelled', exitCode: null })
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
  })

  it('is not started when it is already cancelled', async () => {
    const { folder, process } = await runIn(sandbox, 'touch made', { signal: AbortSignal.abort() })
    expect(await process.outcome).toMatchObject({ ended: 'cancelled', output: '' })
    expect(await readdir(folder)).toEqual([])
  })

  it('ends when its handle is stopped', async () => {
    const { process } = await runIn(sandbox, 'sleep 300')
    process.stop()
    expect(await process.outcome).toMatchObject({ ended: 'cancelled' })
  })

  it('ends its background processes and does not wait for them', async () => {
    expect(await resultOf(sandbox, 'sleep 4322 & echo $!; echo over')).toMatchObject({ ended: 'exited', exitCode: 0 })
    await expect.poll(() => sleepers('4322')).toEqual([])
  })

  it('leaves out the middle of a long output', async () => {
    const { output, outputBytes } = await resultOf(sandbox, 'seq 100000', { keepBytes: 1_000 })
    expect(output).toMatch(/^1\n2\n3\n[^]*\n\[… 587895 bytes left out here …\]\n[^]*\n99999\n100000\n$/)
    expect(outputBytes).toBe(588_895)
  })

  it('is stopped when it prints forever', async () =>
    expect(await resultOf(sandbox, 'yes', { limits: { outputBytes: 1_000_000 } })).toMatchObject({ ended: 'limit', limit: 'output' }))

  it.each([
    ['space', 'for i in $(seq 40); do head -c 20000000 /dev/zero > "f$i"; done; sleep 300', { diskBytes: 100_000_000 }],
    ['files', 'i=0; while [ $i -lt 30000 ]; do : > "f$i"; i=$((i+1)); done; sleep 300', { diskFiles: 5_000 }],
  ])('is stopped when it takes more %s on the disk than it may', async (what, script, limits) => {
    const { ffree } = await statfs(tmpdir())
    if (what === 'files' && ffree === 0) return console.log('Files are not counted here: the disk does not tell how many it has room for.')
    expect(await resultOf(sandbox, script, { limits })).toMatchObject({ ended: 'limit', limit: 'disk' })
  })

  it('reports its output while it runs, in whole characters', async () => {
    const pieces: string[] = []
    const script = String.raw`printf '\303'; sleep 0.3; printf '\244 one\n'; sleep 0.3; echo two`
    const { output } = await resultOf(sandbox, script, { onOutput: (text) => void pieces.push(text) })
    expect(pieces.join('')).toBe('ä one\ntwo\n')
    expect(pieces.length).toBeGreaterThan(1)
    expect(output).toBe('ä one\ntwo\n')
  })

  it('names a program that does not exist', async () => {
    const folder = (await scratchFolder('Work')).path
    const { exitCode, output } = await runSandboxed({
      sandbox,
      command: ['/usr/bin/no-such-program'],
      folder,
      writable: [folder],
      timeoutMs: LIMIT_MS,
    }).outcome
    expect(exitCode).toBe(127)
    expect(output).toMatch(/no-such-program.*(not found|No such file)/)
  })

  it('cannot contain a NUL', async () => {
    await expect(resultOf(sandbox, 'echo \0')).rejects.toThrow(/NUL/)
  })

  it(`leaves nothing in the temporary folder (${name})`, async () => {
    const base = await realpath(await mkdtemp('/tmp/deckhand-tidy-'))
    onTestFinished(() => rm(base, { recursive: true, force: true }))
    vi.stubEnv('TMPDIR', base)
    onTestFinished(() => void vi.unstubAllEnvs())
    await mkdir(join(base, 'Work'))
    await runSandboxed({
      sandbox,
      command: ['/bin/sh', '-c', 'echo x > "$TMPDIR/y"; echo x > "$HOME/z"'],
      folder: join(base, 'Work'),
      writable: [join(base, 'Work')],
      timeoutMs: LIMIT_MS,
    }).outcome
    expect(await readdir(base)).toEqual(['Work'])
  })
})

async function sleepers(word: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number)
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, i) => new RegExp(`^sleep\\x00${word}`).test(lines[i]!))
}

describe.skipIf(isMissing)('an open folder', () => {
  const open = async (folder: string, more: Partial<SandboxOptions> = {}) =>
    runSandboxed({ sandbox: found, command: ['/bin/sh', '-c', 'ls -A'], folder, writable: [folder], timeoutMs: LIMIT_MS, ...more }).outcome

  it.each(['/', '/usr/local', '/etc', '/proc/self', '/dev', '/tmp', '/home', '/run/user/1000', '/var'])('is never %s', async (folder) => {
    await expect(open(folder)).rejects.toThrow(/cannot be opened to this folder/)
  })

  it('is never behind a link, and must exist', async () => {
    const scratch = await scratchFolder()
    await mkdir(scratch.at('real/sub'), { recursive: true })
    await symlink('real', scratch.at('link'))
    await expect(open(scratch.at('link'))).rejects.toThrow(/link/)
    await expect(open(scratch.at('link/sub'))).rejects.toThrow(/link/)
    await expect(open(scratch.at('gone'))).rejects.toThrow(/does not exist/)
    await writeFile(scratch.at('file'), '')
    await expect(open(scratch.at('file'))).rejects.toThrow(/not a plain folder/)
  })

  it('must contain the working folder', async () => {
    const scratch = await scratchFolder()
    await mkdir(scratch.at('a'))
    await mkdir(scratch.at('b'))
    await expect(open(scratch.at('b'), { writable: [scratch.at('a')] })).rejects.toThrow(/does not show/)
  })

  it('is never closed or in a closed folder', async () => {
    const scratch = await scratchFolder()
    await mkdir(scratch.at('data/sub'), { recursive: true })
    await expect(open(scratch.at('data'), { closed: [scratch.at('data')] })).rejects.toThrow(/closed to agents/)
    await expect(open(scratch.at('data/sub'), { closed: [scratch.at('data')] })).rejects.toThrow(/closed to agents/)
  })

  it('can be read-only beside writable ones', async () => {
    const scratch = await scratchFolder()
    await mkdir(scratch.at('work'))
    await scratch.write('library/book', 'words')
    const script = `cat ${scratch.at('library/book')}; echo x > ${scratch.at('library/new')} || echo refused`
    const { output } = await runSandboxed({
      sandbox: found,
      command: ['/bin/sh', '-c', script],
      folder: scratch.at('work'),
      writable: [scratch.at('work')],
      readable: [scratch.at('library')],
      timeoutMs: LIMIT_MS,
    }).outcome
    expect(output).toMatch(/^words.*Read-only file system\nrefused\n$/s)
  })

  it('hides closed files and folders inside it', async () => {
    const scratch = await scratchFolder()
    await scratch.write('deep/data/secret', 'x')
    await scratch.write('key', 'x')
    await symlink('deep/data', scratch.at('link'))
    const script = 'ls -A deep/data link; cat key; echo y > key; mv deep other; touch deep/data/new; true'
    const { output } = await runSandboxed({
      sandbox: found,
      command: ['/bin/sh', '-c', script],
      folder: scratch.path,
      writable: [scratch.path],
      closed: [scratch.at('link'), scratch.at('key')],
      timeoutMs: LIMIT_MS,
    }).outcome
    expect(output).not.toContain('secret')
    expect(output).toMatch(/mv: .*busy/)
    expect(await readFile(scratch.at('deep/data/secret'), 'utf8')).toBe('x')
    expect(await readFile(scratch.at('key'), 'utf8')).toBe('x')
    expect((await lstat(scratch.at('deep/data'))).isDirectory()).toBe(true)
    expect(existsSync(scratch.at('deep/data/new'))).toBe(false)
  })

  it('allows git, pipes, scripts, threads and local sockets', async () => {
    const script = `git init -q -b main . && git config user.email a@b.c && git config user.name A && echo x > f && git add f && git commit -qm one && git log --oneline | wc -l
printf '#!/bin/sh\\necho script "$1"\\n' > run.sh && chmod +x run.sh && ./run.sh works
seq 10 | sort -rn | head -1
mktemp -d >/dev/null && echo temporary
id -un`
    const { output, exitCode } = await resultOf(found, script)
    expect(output).toBe('1\nscript works\n10\ntemporary\nagent\n')
    expect(exitCode).toBe(0)
  })

  it.skipIf(!existsSync('/usr/bin/python3') || process.platform === 'darwin')(
    'lets a program use the socket files that it makes, and make them again in a folder of its own',
    async () => {
      const [folder, own] = [(await scratchFolder('Work')).path, (await scratchFolder('own')).path]
      const python = `import os, socket, sys
for path in sys.argv[1:]:
    if os.path.exists(path): os.unlink(path)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    print('connected')`
      const serve = (...paths: string[]) =>
        runSandboxed({
          sandbox: found,
          command: ['/usr/bin/python3', '-c', python, ...paths],
          folder,
          writable: [folder, own],
          own: [own],
          timeoutMs: LIMIT_MS,
        }).outcome
      expect((await serve('socket', join(own, 'socket'))).output).toBe('connected\nconnected\n')
      expect((await serve(join(own, 'socket'))).output).toBe('connected\n')
    },
  )
})

describe('the room on a disk', () => {
  const [GB, MINUTE] = [1024 ** 3, 60_000]
  const LIMITS = { diskBytes: 10 * GB, diskFiles: 500_000 }
  /** What is said at each of these rooms, a minute apart. */
  const look = (rooms: { bytes: number; files: number }[]) => {
    const isUsedUp = createDiskMeter(LIMITS)
    return rooms.map((room, minute) => isUsedUp(room, minute * MINUTE))
  }
  const files = 2_000_000

  it('may shrink slowly for hours', () => {
    const rooms = Array.from({ length: 100 }, (_, n) => ({ bytes: (400 - 3 * n) * GB, files: files - 10_000 * n }))
    expect(look(rooms)).not.toContain(true)
  })

  it.each([
    ['bytes', { bytes: 380 * GB, files }],
    ['files', { bytes: 400 * GB, files: files - 600_000 }],
  ])('may not lose too many %s at once, however long the program runs', (_, room) => {
    const rooms = Array.from({ length: 9 }, () => ({ bytes: 400 * GB, files }))
    expect(look([...rooms, room]).indexOf(true)).toBe(9)
  })

  it('may not shrink slowly until nothing is left', () => {
    const rooms = Array.from({ length: 25 }, (_, n) => ({ bytes: (1 - 0.04 * n) * GB, files }))
    expect(look(rooms).indexOf(true)).toBe(19)
  })

  it('may have been small before', () => {
    const rooms = Array.from({ length: 9 }, () => ({ bytes: 0.1 * GB, files }))
    expect(look(rooms)).not.toContain(true)
  })
})

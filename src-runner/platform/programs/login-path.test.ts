import { existsSync } from 'node:fs'
import { chmod, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { readLoginPath } from './login-path.ts'

const SHELLS = ['/bin/bash', '/bin/zsh', '/usr/bin/fish', '/bin/dash', '/bin/sh'].filter(existsSync)

/** A home with these start-up files, and a shell that reads them. */
async function readIn(startup: Record<string, string>, { shell = '/bin/bash', env = {}, timeoutMs = 5_000 } = {}) {
  const home = await scratchFolder('home')
  for (const [name, text] of Object.entries(startup)) await home.write(name, text)
  const path = await readLoginPath({ env: { HOME: home.path, SHELL: shell, PATH: '/usr/bin:/bin', ...env }, timeoutMs })
  return { home, ...path }
}

async function shellThat(script: string): Promise<string> {
  const folder = await scratchFolder()
  const path = await folder.write('bash', `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

describe.skipIf(process.platform === 'win32' || !existsSync('/bin/bash'))('the login PATH', () => {
  it.each(SHELLS)('is read from %s after its start-up files', async (shell) => {
    const startup = {
      '.profile': 'PATH="/from/profile:$PATH"; export PATH',
      '.bash_profile': 'export PATH="/from/profile:$PATH"; . ~/.bashrc',
      '.bashrc': 'export PATH="$PATH:/from/rc"',
      '.zshrc': 'export PATH="/from/profile:$PATH"',
      '.config/fish/config.fish': 'set -gx PATH /from/profile $PATH',
    }
    const { folders, problem, shell: name } = await readIn(startup, { shell })
    expect(problem).toBeNull()
    expect(folders[0]).toBe('/from/profile')
    expect(folders).toContain('/usr/bin')
    expect(shell).toContain(name)
  })

  it('is found among other output of start-up files', async () => {
    const startup = {
      '.bash_profile': String.raw`echo PATH=/evil; printf '\033[31mhi\033[0m\n'; echo oops >&2; export PATH=/a:/b; trap 'echo bye; exit 3' EXIT`,
    }
    expect(await readIn(startup)).toMatchObject({ folders: ['/a', '/b'], problem: null })
  })

  it('holds each folder once, in order, without empty or unprintable ones', async () => {
    const path = String.raw`export PATH=$'/a:/b::/a:/c d:/e\nf:.:relative:/z'`
    expect((await readIn({ '.bash_profile': path })).folders).toEqual(['/a', '/b', '/c d', '.', 'relative', '/z'])
  })

  it('gives the shell only the variables that it needs', async () => {
    const env = { WORKER_SECRET: 'canary', NODE_OPTIONS: '--canary', SSH_AUTH_SOCK: '/run/keys' }
    const { home } = await readIn({ '.bash_profile': 'env > ~/seen' }, { env })
    const seen = await readFile(home.at('seen'), 'utf8')
    expect(seen).not.toContain('canary')
    expect(seen).toMatch(/^HOME=.*home$/m)
    // Without it, some start-up files start a key agent each time.
    expect(seen).toMatch(/^SSH_AUTH_SOCK=/m)
  })

  it('falls back to a non-interactive shell when the interactive one starts something else', async () => {
    const startup = { '.bash_profile': 'export PATH=/a:/b; case $- in *i*) exec /bin/sh -c "echo a multiplexer";; esac' }
    expect(await readIn(startup)).toMatchObject({ folders: ['/a', '/b'], problem: null })
  })

  it.each<[string, string, RegExp]>([
    ['waits for input', 'read -r answer; echo "[$answer]"', /without an answer/],
    ['fails', 'exit 3', /without an answer/],
    ['never ends', 'sleep 600', /within 0.7 seconds/],
    ['prints forever', 'yes', /too much/],
  ])('is the PATH of this process when the shell %s', async (_, script, problem) => {
    const shell = await shellThat(script)
    const answer = await readLoginPath({ env: { SHELL: shell, PATH: '/short:/usr/bin' }, timeoutMs: 700 })
    expect(answer).toEqual({ folders: ['/short', '/usr/bin'], shell: 'bash', problem: expect.stringMatching(problem) as string })
  })

  it.each([
    ['is not a known shell', '/usr/bin/python3', /not supported/],
    ['does not exist', '/missing/zsh', /ENOENT/],
  ])('is the PATH of this process when the shell %s', async (_, shell, problem) => {
    expect(await readLoginPath({ env: { SHELL: shell, PATH: '/short' } })).toMatchObject({
      folders: ['/short'],
      problem: expect.stringMatching(problem) as string,
    })
  })

  it('does not wait for a background process of a start-up file, and ends it', async () => {
    const { home, folders } = await readIn({ '.bash_profile': 'sleep 600 & echo $! > ~/pid; export PATH=/a' })
    expect(folders).toEqual(['/a'])
    const pid = Number(await readFile(home.at('pid'), 'utf8'))
    const state = () => readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => / Z /.test(stat), () => true) // prettier-ignore
    await expect.poll(state).toBe(true)
  })

  it.each([
    ['the time is over', 700, false],
    ['it is cancelled', 20_000, true],
  ])('lets start-up files release their locks when %s', async (_, timeoutMs, isLeft) => {
    const startup = `touch ~/lock; bash -c 'trap "rm ~/lock" EXIT; touch ~/held; sleep 600'`
    const home = await scratchFolder('home')
    await home.write('.bash_profile', startup)
    const over = new AbortController()
    const reading = readLoginPath({ env: { HOME: home.path, SHELL: '/bin/bash', PATH: '/usr/bin:/bin' }, timeoutMs, signal: over.signal })
    await expect.poll(() => existsSync(home.at('held')), { timeout: 5_000 }).toBe(true)
    if (isLeft) over.abort()
    expect((await reading).problem).not.toBeNull()
    await expect.poll(() => existsSync(home.at('lock')), { timeout: 2_500 }).toBe(false)
  })

  it('kills a shell that ignores SIGHUP', async () => {
    const home = await scratchFolder('home')
    const shell = await shellThat(`trap '' HUP; echo $$ > '${home.at('pid')}'; sleep 600`)
    await readLoginPath({ env: { SHELL: shell, PATH: '/short' }, timeoutMs: 500 })
    const pid = Number(await readFile(home.at('pid'), 'utf8'))
    const isGone = () => readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => / Z /.test(stat), () => true) // prettier-ignore
    await expect.poll(isGone, { timeout: 8_000 }).toBe(true)
  }, 15_000)

  it('stops when it is cancelled', async () => {
    const over = new AbortController()
    const shell = await shellThat('sleep 600')
    const reading = readLoginPath({ env: { SHELL: shell, PATH: '/short' }, signal: over.signal })
    over.abort()
    expect(await reading).toMatchObject({ folders: ['/short'], problem: expect.stringContaining('cancelled') as string })
  })
})

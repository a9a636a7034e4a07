import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CodingCli } from '../../contract/coding-programs.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { createCodingPrograms } from './coding-programs.ts'

/** A machine with a home, a folder of programs, and one where an agent writes. */
function machine({ env = {} }: { env?: Record<string, string> } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'deckhand-coding-programs-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const [home, bin, project] = ['home', 'bin', 'project'].map((name) => join(root, name)) as [string, string, string]
  for (const folder of [home, bin, project]) mkdirSync(folder)
  const clock = createHandClock()
  const programs = createCodingPrograms({
    clock,
    home,
    env: { PATH: '/usr/bin:/bin', HOME: home, ...env },
    listProgramFolders: async () => ['.', project, bin],
    closedFolders: () => [project],
  })
  return {
    home,
    bin,
    project,
    clock,
    check: programs.check,
    /** A program that answers `--version` with this, and anything else by the script. */
    install(cli: CodingCli, version: string, script: string, folder = bin) {
      const file = join(folder, cli)
      writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && { ${version}; exit; }\n${script}\n`)
      chmodSync(file, 0o755)
      return file
    },
  }
}

describe.skipIf(process.platform === 'win32')('the check of programs that write code', () => {
  it.each(['claude', 'codex', 'gemini', 'opencode'] as const)('%s: says how to install it', async (cli) => {
    expect(await machine().check(cli)).toEqual({
      cli,
      installed: false,
      path: null,
      version: null,
      signedIn: 'unknown',
      fix: expect.stringMatching(/^npm install -g \S+$/),
    })
  })

  // As the real programs print it; the versions are those that were tried.
  it.each<[CodingCli, string, string, string, string, string | null]>([
    [
      'claude',
      '2.1.197 (Claude Code)',
      `echo '{\n  "loggedIn": false,\n  "authMethod": "none"\n}'; exit 1`,
      '2.1.197',
      'no',
      'claude auth login',
    ],
    ['claude', '2.1.197 (Claude Code)', `echo '{ "loggedIn": true, "authMethod": "api_key" }'`, '2.1.197', 'yes', null],
    ['claude', '1.0.3 (Claude Code)', 'echo "error: unknown command auth" >&2; exit 1', '1.0.3', 'unknown', null],
    ['codex', 'codex-cli 0.169.0', 'echo "WARNING: proceeding" >&2; echo "Not logged in" >&2; exit 1', '0.169.0', 'no', 'codex login'],
    ['codex', 'codex-cli 0.169.0', 'echo "Logged in using ChatGPT" >&2', '0.169.0', 'yes', null],
    ['codex', 'codex-cli 0.169.0', 'echo "API key configured - ***" >&2', '0.169.0', 'yes', null],
    ['opencode', '1.18.33', String.raw`printf '\033[0m└  0 credentials\n'`, '1.18.33', 'no', 'opencode auth login'],
    ['opencode', '1.18.33', `printf '└  0 credentials\n└  1 environment variable\n'`, '1.18.33', 'yes', null],
    ['opencode', '1.18.33', `printf '└  2 credentials\n'`, '1.18.33', 'yes', null],
  ])('%s: reads "%s" and its sign-in', async (cli, printed, script, version, signedIn, fix) => {
    const { install, check } = machine()
    const path = install(cli, `echo '${printed}'`, script)
    expect(await check(cli)).toEqual({ cli, installed: true, path, version, signedIn, fix })
  })

  it('gemini: goes by the files it leaves, which are not opened, and by its keys', async () => {
    const { install, check, home } = machine()
    install('gemini', 'echo 0.61.0', 'exit 3')
    expect(await check('gemini')).toMatchObject({ version: '0.61.0', signedIn: 'no', fix: 'gemini' })
    mkdirSync(join(home, '.gemini'))
    writeFileSync(join(home, '.gemini', 'google_accounts.json'), '{}')
    expect(await check('gemini')).toMatchObject({ signedIn: 'unknown', fix: null })
    writeFileSync(join(home, '.gemini', 'oauth_creds.json'), '', { mode: 0 })
    expect(await check('gemini')).toMatchObject({ signedIn: 'yes' })
    const withKey = machine({ env: { GEMINI_API_KEY: 'k' } })
    withKey.install('gemini', 'echo 0.61.0', 'exit 3')
    expect(await withKey.check('gemini')).toMatchObject({ signedIn: 'yes' })
  })

  it('never runs a program from where an agent writes, or from the working folder', async () => {
    const { install, check, project, bin, home } = machine()
    const planted = `touch '${home}/ran'`
    install('codex', planted, planted, project)
    expect(await check('codex')).toMatchObject({ installed: false })
    const path = install('codex', 'echo codex-cli 0.169.0', 'echo "Logged in" >&2', bin)
    expect(await check('codex')).toMatchObject({ path, signedIn: 'yes' })
    expect(existsSync(join(home, 'ran'))).toBe(false)
  })

  it('runs it in an empty folder, with its own keys and no other variable', async () => {
    const { install, check, home } = machine({ env: { CODEX_HOME: '/c', WORKER_SECRET: 'canary', DECKHAND_DATA_DIR: '/d' } })
    install('codex', 'echo codex-cli 0.169.0', `env > '${home}/env'; ls -A > '${home}/ls'; echo "Logged in"`)
    await check('codex')
    expect(readFileSync(join(home, 'env'), 'utf8')).toMatch(/^CODEX_HOME=\/c$/m)
    expect(readFileSync(join(home, 'env'), 'utf8')).not.toMatch(/canary|DECKHAND/)
    expect(readFileSync(join(home, 'ls'), 'utf8')).toBe('')
  })

  it('starts a program once for callers that accept a recent check', async () => {
    const { install, check, clock, home } = machine()
    install('codex', `echo codex-cli 0.169.0; echo >> '${home}/starts'`, 'echo "Logged in"')
    const starts = () => readFileSync(join(home, 'starts'), 'utf8').length
    const recent = () => check('codex', { mayBeRecent: true })
    const first = await recent()
    expect(first).toMatchObject({ signedIn: 'yes' })
    expect([await recent(), await recent(), starts()]).toEqual([first, first, 1])
    await check('codex')
    expect(starts()).toBe(2)
    clock.advance(10_000)
    await recent()
    expect(starts()).toBe(3)
  })

  it('says that it does not start, and gives up on one that hangs', async () => {
    const broken = machine()
    broken.install('claude', 'exit 127', '')
    expect(await broken.check('claude')).toMatchObject({ installed: true, version: null, fix: expect.stringContaining('npm install') })

    const { install, check, clock, home } = machine()
    install('claude', `echo $$ > '${home}/pid'; exec sleep 600`, '')
    const checking = check('claude')
    // Two checks at once start it once.
    expect(check('claude')).toBe(checking)
    await expect.poll(() => existsSync(join(home, 'pid'))).toBe(true)
    clock.advance(20_000)
    expect(await checking).toMatchObject({ version: null, signedIn: 'unknown' })
  })
})

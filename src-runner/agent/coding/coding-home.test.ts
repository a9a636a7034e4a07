import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CodingCli } from '../../contract/coding-programs.ts'
import { scratchFolder } from '../../testing/scratch-folder.ts'
import { findSignIn, outsideEnvironment, prepareCodingHome, runsInSandbox } from './coding-home.ts'
import { findCodingProgram, wayOf } from './coding-ways.ts'

const RENEWAL = 'renewal-token-that-must-stay-outside'
const ACCESS = 'access-token-for-an-hour-or-so'

async function person(env: NodeJS.ProcessEnv = {}, platform: NodeJS.Platform = 'linux') {
  const base = await scratchFolder()
  const read = (path: string) => readFile(base.at('own', path), 'utf8')
  return { base, own: base.at('own'), read, who: { home: base.at('home'), env, platform, now: () => 1_000 } }
}

const LOGINS: [CodingCli, string, unknown][] = [
  ['claude', '.claude/.credentials.json', { claudeAiOauth: { accessToken: ACCESS, refreshToken: RENEWAL, expiresAt: 2_000 } }],
  ['codex', '.codex/auth.json', { tokens: { access_token: ACCESS, refresh_token: RENEWAL, account_id: 'a' }, last_refresh: null }],
  ['opencode', '.local/share/opencode/auth.json', { anthropic: { type: 'oauth', access: ACCESS, refresh: RENEWAL, expires: 2_000 } }],
]

it.each(LOGINS)('gives %s its login without the token that renews it', async (cli, path, login) => {
  const { base, own, who } = await person()
  await base.write(join('home', path), JSON.stringify(login))
  expect(await findSignIn(cli, who)).toBe('file')
  const { env, secrets } = await prepareCodingHome(cli, own, who)
  const given = JSON.stringify(env) + (cli === 'codex' ? await readFile(join(own, 'codex/auth.json'), 'utf8') : '')
  expect(given).toContain(ACCESS)
  expect(given).not.toContain(RENEWAL)
  expect(secrets).toContain(ACCESS)
  expect(JSON.parse(await readFile(base.at('home', path), 'utf8'))).toEqual(login)
})

it('gives Gemini its login, and the choice of it, since its own settings stay outside', async () => {
  const { base, own, read, who } = await person()
  await base.write('home/.gemini/oauth_creds.json', JSON.stringify({ access_token: ACCESS, refresh_token: RENEWAL }))
  await base.write('home/.gemini/settings.json', JSON.stringify({ hooks: 'evil', mcpServers: { a: {} } }))
  const { env } = await prepareCodingHome('gemini', own, who)
  expect(env['GEMINI_CLI_HOME']).toBe(join(own, 'gemini'))
  expect(await read('gemini/.gemini/oauth_creds.json')).toContain(ACCESS)
  expect(await read('gemini/.gemini/settings.json')).toBe('{"security":{"auth":{"selectedType":"oauth-personal"}}}')
})

it('tells Gemini which of its sign-ins counts', async () => {
  const { base, own, read, who } = await person({ GEMINI_API_KEY: 'a-key-of-gemini' })
  await base.write('home/.gemini/oauth_creds.json', JSON.stringify({ access_token: ACCESS }))
  await prepareCodingHome('gemini', own, who)
  expect(await read('gemini/.gemini/settings.json')).toContain('"gemini-api-key"')
  await prepareCodingHome('gemini', own, { ...who, env: { GOOGLE_API_KEY: 'a-key-of-google' } })
  expect(await read('gemini/.gemini/settings.json')).toContain('"vertex-ai"')
})

it('does not take a login that has expired for one', async () => {
  const { base, who } = await person()
  await base.write('home/.claude/.credentials.json', JSON.stringify({ claudeAiOauth: { accessToken: ACCESS, expiresAt: 1_000 } }))
  expect(await findSignIn('claude', who)).toBe('none')
})

it('gives a program its own keys and nothing else of the environment', async () => {
  const { own, who } = await person({
    OPENAI_API_KEY: 'sk-of-openai',
    ANTHROPIC_API_KEY: 'sk-ant',
    AWS_SECRET_ACCESS_KEY: 'aws',
    PATH: '/x',
  })
  const { env, secrets } = await prepareCodingHome('codex', own, who)
  expect(env).toMatchObject({ HOME: own, CODEX_HOME: join(own, 'codex'), OPENAI_API_KEY: 'sk-of-openai' })
  expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['ANTHROPIC_API_KEY']))
  expect(JSON.stringify(env)).not.toMatch(/sk-ant|aws/)
  expect(secrets).toEqual(['sk-of-openai'])
  expect(JSON.stringify(outsideEnvironment('codex', who.env))).not.toMatch(/sk-ant|aws/)
})

it('runs outside only what keeps its login in a keychain', async () => {
  const mac = await person({}, 'darwin')
  expect(await findSignIn('claude', mac.who)).toBe('keychain')
  expect(await findSignIn('codex', mac.who)).toBe('none')
  const noted = await person()
  await noted.base.write('home/.gemini/google_accounts.json', '{}')
  expect(await findSignIn('gemini', noted.who)).toBe('keychain')
  expect([runsInSandbox('keychain'), runsInSandbox('file'), runsInSandbox('key'), runsInSandbox('none')]).toEqual([false, true, true, true])
})

it.skipIf(process.platform === 'win32')('writes no login through a link that a program left in its home', async () => {
  const { base, own, who } = await person()
  const real = await base.write('home/.codex/auth.json', JSON.stringify({ tokens: { access_token: ACCESS, refresh_token: RENEWAL } }))
  await prepareCodingHome('codex', own, who)
  await rm(join(own, 'codex'), { recursive: true })
  await symlink(base.at('home/.codex'), join(own, 'codex'))
  await prepareCodingHome('codex', own, who)
  expect(await readFile(real, 'utf8')).toContain(RENEWAL)
  await rm(join(own, 'codex/auth.json'))
  await symlink(real, join(own, 'codex/auth.json'))
  await prepareCodingHome('codex', own, who)
  expect(await readFile(real, 'utf8')).toContain(RENEWAL)
  expect(await readFile(join(own, 'codex/auth.json'), 'utf8')).toContain(ACCESS)
})

it.skipIf(process.platform === 'win32')('finds the program to talk to, never where agents write', async () => {
  const base = await scratchFolder()
  const put = async (path: string) => {
    await mkdir(base.at(join(path, '..')), { recursive: true })
    await writeFile(base.at(path), '#!/bin/sh\n')
    await chmod(base.at(path), 0o755)
    return base.at(path)
  }
  await put('agents/claude-agent-acp')
  const trusted = await put('bin/claude-code-acp')
  const folders = [base.at('agents'), base.at('bin')]
  expect(findCodingProgram('claude', { folders, closed: [base.at('agents')] })).toBe(trusted)
  expect(findCodingProgram('codex', { folders, closed: [] })).toBeNull()
  expect(() => wayOf('claude', 'codex-acp')).toThrow('no program of claude')
})

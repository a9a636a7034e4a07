import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cruise, type ICruiseOptions } from 'dependency-cruiser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import borders from './borders.mjs'

/** One planted violation per row: a file, what it imports, and the rule that has to find it. */
const VIOLATIONS: Array<[rule: string, file: string, code: string]> = [
  ['contract-stands-alone', 'src-runner/contract/a1.ts', `import { now } from '../lib/clock.ts'\nexport const a1 = now`],
  ['contract-stands-alone', 'src-runner/contract/a2.ts', `import { readFileSync } from 'node:fs'\nexport const a2 = readFileSync`],
  ['contract-stands-alone', 'src-main/contract/a3.ts', `import type { FastifyInstance } from 'fastify'\nexport type A3 = FastifyInstance`],
  [
    'main-asks-the-runner',
    'src-main/runner/b1.ts',
    `import type { Jobs } from '../../src-runner/domain/jobs/jobs.ts'\nexport type B1 = Jobs`,
  ],
  ['page-asks-by-contract', 'src-renderer/api/c1.ts', `import { now } from '../../src-runner/lib/clock.ts'\nexport const c1 = now`],
  ['page-is-a-web-page', 'src-renderer/api/c2.ts', `import { join } from 'node:path'\nexport const c2 = join`],
  ['runner-stands-alone', 'src-runner/execution/d1.ts', `import { vault } from '../../src-main/vault/vault.ts'\nexport const d1 = vault`],
  ['page-lib-is-bare', 'src-renderer/lib/e1.ts', `import { client } from '../api/client.ts'\nexport const e1 = client`],
  ['features-have-no-screen', 'src-renderer/features/e0.ts', `import { Jobs } from '../routes/jobs/Jobs.tsx'\nexport const e0 = Jobs`],
  ['ui-has-no-data', 'src-renderer/ui/E2.tsx', `import { client } from '../api/client.ts'\nexport const E2 = () => <p>{client}</p>`],
  ['api-has-no-screen', 'src-renderer/api/e3.ts', `import { Jobs } from '../routes/jobs/Jobs.tsx'\nexport const e3 = Jobs`],
  ['screens-keep-apart', 'src-renderer/routes/agents/E4.tsx', `import { Jobs } from '../jobs/Jobs.tsx'\nexport const E4 = Jobs`],
  ['lib-is-bare', 'src-runner/lib/f1.ts', `import { open } from '../platform/db/open.ts'\nexport const f1 = open`],
  ['platform-looks-inward', 'src-runner/platform/net/f2.ts', `import { Jobs } from '../../domain/jobs/jobs.ts'\nexport const f2: Jobs = 1`],
  ['domain-looks-inward', 'src-runner/domain/jobs/f3.ts', `import type { Loop } from '../../agent/loop/loop.ts'\nexport type F3 = Loop`],
  ['nouns-in-order', 'src-runner/domain/agents/f31.ts', `import type { Jobs } from '../jobs/jobs.ts'\nexport type F31 = Jobs`],
  ['nouns-in-order', 'src-runner/domain/newcomers/f32.ts', `import { z } from 'zod'\nexport const f32 = z`],
  ['agent-looks-inward', 'src-runner/agent/loop/f4.ts', `import type { Jobs } from '../../domain/jobs/jobs.ts'\nexport type F4 = Jobs`],
  ['execution-looks-inward', 'src-runner/execution/f5.ts', `import { serve } from '../adapters/http/serve.ts'\nexport const f5 = serve`],
  [
    'adapters-look-inward',
    'src-runner/adapters/http/f6.ts',
    `import { createRunner } from '../../runner.ts'\nexport const f6 = createRunner`,
  ],
  ['adapters-keep-apart', 'src-runner/adapters/scheduler/f7.ts', `import { serve } from '../http/serve.ts'\nexport const f7 = serve`],
  ['tools-keep-apart', 'src-runner/agent/tools/shell/g1.ts', `import { read } from '../files/read.ts'\nexport const g1 = read`],
  ['electron-in-the-desktop', 'src-runner/platform/h1.ts', `import { app } from 'electron'\nexport const h1 = app`],
  ['electron-in-the-desktop', 'src-main/dashboard/h2.ts', `import type { App } from 'electron'\nexport type H2 = App`],
  ['headless-never-meets-electron', 'src-main/headless.ts', `import { show } from './window/window.ts'\nshow()`],
  ['sqlite-behind-platform', 'src-runner/domain/jobs/i1.ts', `import Database from 'better-sqlite3'\nexport const i1 = Database`],
  [
    'sqlite-behind-platform',
    'src-runner/adapters/http/i2.ts',
    `import { DatabaseSync } from 'node:sqlite'\nexport const i2 = DatabaseSync`,
  ],
  ['query-builder-in-the-domain', 'src-runner/execution/i8.ts', `import { eq } from 'drizzle-orm'\nexport const i8 = eq`],
  ['sqlite-behind-platform', 'src-main/reset/i10.ts', `import Database from 'better-sqlite3'\nexport const i10 = Database`],
  ['sqlite-behind-platform', 'src-main/dashboard/i9.ts', `import Database from 'better-sqlite3'\nexport const i9 = Database`],
  ['sign-in-library-in-one-file', 'src-main/dashboard/i10.ts', `import { betterAuth } from 'better-auth'\nexport const i10 = betterAuth`],
  [
    'accounts-on-demand',
    'src-main/dashboard/i11.ts',
    `import { openAccounts } from '../sign-in/accounts.ts'\nexport const i11 = openAccounts`,
  ],
  [
    'mcp-client-in-its-folder',
    'src-runner/execution/i14.ts',
    `import type { Client } from '@modelcontextprotocol/sdk/client/index.js'\nexport type I14 = Client`,
  ],
  [
    'mcp-client-on-demand',
    'src-runner/agent/mcp/i15.ts',
    `import { Client } from '@modelcontextprotocol/sdk/client/index.js'\nexport const i15 = Client`,
  ],
  [
    'coding-protocol-in-its-folder',
    'src-runner/execution/i16.ts',
    `import type { Stream } from '@agentclientprotocol/sdk'\nexport type I16 = Stream`,
  ],
  [
    'coding-protocol-on-demand',
    'src-runner/agent/coding/i17.ts',
    `import { client } from '@agentclientprotocol/sdk'\nexport const i17 = client`,
  ],
  [
    'mcp-endpoint-on-demand',
    'src-runner/adapters/http/i13.ts',
    `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'\nexport const i13 = McpServer`,
  ],
  ['certificates-in-one-file', 'src-main/net/i12.ts', `import { PemConverter } from '@peculiar/x509'\nexport const i12 = PemConverter`],
  [
    'certificates-on-demand',
    'src-main/net/certificate.ts',
    `import { PemConverter } from '@peculiar/x509'\nexport const certificate = PemConverter`,
  ],
  ['keychain-behind-the-vault', 'src-main/runner/i3.ts', `import keytar from 'keytar'\nexport const i3 = keytar`],
  ['updater-in-updates', 'src-main/runner/i9.ts', `import type { AppUpdater } from 'electron-updater'\nexport type I9 = AppUpdater`],
  ['updater-loads-late', 'src-main/updates/i10.ts', `import { MacUpdater } from 'electron-updater'\nexport const i10 = MacUpdater`],
  ['network-behind-platform', 'src-runner/agent/tools/web/i4.ts', `import { get } from 'node:https'\nexport const i4 = get`],
  [
    'processes-behind-the-sandbox',
    'src-runner/agent/tools/shell/i5.ts',
    `import { spawn } from 'node:child_process'\nexport const i5 = spawn`,
  ],
  [
    'git-by-its-interface',
    'src-runner/execution/i51.ts',
    `import { createGitRunner } from '../platform/git/run-git.ts'\nexport const i51 = createGitRunner`,
  ],
  [
    'model-libraries-in-adapters',
    'src-runner/execution/i6.ts',
    `import { createAnthropic } from '@ai-sdk/anthropic'\nexport const i6 = createAnthropic`,
  ],
  ['chat-libraries-in-drivers', 'src-runner/adapters/channels/i7.ts', `import { Api } from 'grammy'\nexport const i7 = Api`],
  ['whatsapp-in-its-driver', 'src-runner/adapters/channels/w1.ts', `export const w1 = () => import('@whiskeysockets/baileys')`],
  [
    'whatsapp-on-demand',
    'src-runner/adapters/channels/whatsapp/w2.ts',
    `import { proto } from '@whiskeysockets/baileys'\nexport const w2 = proto`,
  ],
  [
    'slack-libraries-in-their-driver',
    'src-runner/adapters/channels/i8.ts',
    `export const i8 = async () => (await import('@slack/web-api')).WebClient`,
  ],
  [
    'slack-libraries-load-late',
    'src-runner/adapters/channels/slack/i9.ts',
    `import { WebClient } from '@slack/web-api'\nexport const i9 = WebClient`,
  ],
  [
    'discord-spoken-directly',
    'src-runner/adapters/channels/discord/i6.ts',
    `export const i6 = async () => (await import('@discordjs/rest')).REST`,
  ],
  ['texts-stand-alone', 'resources/locales/k0.ts', `import { now } from '../../src-runner/lib/clock.ts'\nexport const k0 = now`],
  ['product-needs-no-tests', 'src-runner/execution/j1.ts', `import { fake } from '../testing/fake.ts'\nexport const j1 = fake`],
  ['product-needs-no-scripts', 'src-runner/execution/j2.ts', `import { seed } from '../../e2e/scenarios/seed.ts'\nexport const j2 = seed`],
  ['no-circles', 'src-runner/execution/k1.ts', `import { k2 } from './k2.ts'\nexport const k1 = () => k2`],
  ['imports-exist', 'src-runner/execution/l1.ts', `import { gone } from './gone.ts'\nexport const l1 = gone`],
]

/** What the violations point at, and what is allowed: nothing may be found here. */
const INNOCENT: Record<string, string> = {
  'src-runner/lib/clock.ts': `export const now = 1`,
  'src-runner/contract/shape.ts': `import { z } from 'zod'\nexport const Shape = z.string()`,
  'src-runner/platform/db/open.ts': `import Database from 'better-sqlite3'\nimport { now } from '../../lib/clock.ts'\nexport const open = [Database, now]`,
  'src-runner/platform/sandbox/start.ts': `import { spawn } from 'node:child_process'\nexport const start = spawn`,
  'src-runner/domain/jobs/jobs.ts': `import { open } from '../../platform/db/open.ts'\nexport type Jobs = number\nexport const jobs = open`,
  'src-runner/domain/jobs/jobs-table.ts': `import { agents } from '../agents/agents-table.ts'\nexport const table = agents`,
  'src-runner/domain/agents/agents-table.ts': `export const agents = 1`,
  'src-runner/domain/agents/agents.ts': `import { table } from '../jobs/jobs-table.ts'\nexport const count = table`,
  'src-runner/domain/jobs/jobs.test.ts': `import { fake } from '../../testing/fake.ts'\nimport { createRunner } from '../../runner.ts'\nexport const t = [fake, createRunner]`,
  'src-runner/agent/loop/loop.ts': `import { Shape } from '../../contract/shape.ts'\nexport type Loop = number\nexport const loop = Shape`,
  'src-runner/agent/providers/anthropic.ts': `import { createAnthropic } from '@ai-sdk/anthropic'\nexport const anthropic = createAnthropic`,
  'src-runner/agent/tools/files/read.ts': `import { loop } from '../../loop/loop.ts'\nexport const read = loop`,
  'src-runner/execution/agent-work.ts': `import { jobs } from '../domain/jobs/jobs.ts'\nimport { loop } from '../agent/loop/loop.ts'\nexport const work = [jobs, loop]`,
  'src-runner/execution/k2.ts': `import { k1 } from './k1.ts'\nexport const k2 = () => k1`,
  'src-runner/adapters/http/serve.ts': `import { work } from '../../execution/agent-work.ts'\nexport const serve = work`,
  'src-runner/runner.ts': `import { serve } from './adapters/http/serve.ts'\nexport const createRunner = serve`,
  'src-runner/testing/fake.ts': `import { createRunner } from '../runner.ts'\nexport const fake = createRunner`,
  'src-main/contract/desktop.ts': `import { Shape } from '../../src-runner/contract/shape.ts'\nexport const desktop = Shape`,
  'src-main/vault/vault.ts': `import keytar from 'keytar'\nexport const vault = keytar`,
  'src-main/sign-in/accounts.ts': `import { createSessions } from './auth-sessions.ts'\nimport Database from 'better-sqlite3'\nexport const openAccounts = [createSessions, Database]`,
  'src-main/sign-in/auth-sessions.ts': `import { betterAuth } from 'better-auth'\nexport const createSessions = betterAuth`,
  'src-main/sign-in/sign-in.ts': `import type { openAccounts } from './accounts.ts'\nexport type Accounts = typeof openAccounts\nexport const load = () => import('./accounts.ts')`,
  'src-runner/platform/git/run-git.ts': `import { spawn } from 'node:child_process'\nexport const createGitRunner = spawn`,
  'src-main/window/window.ts': `import { app } from 'electron'\nexport const show = () => app`,
  'src-main/main.ts': `import { show } from './window/window.ts'\nshow()\nawait import('./testing/hooks.ts')`,
  'src-main/testing/hooks.ts': `export const hooks = 1`,
  'src-renderer/lib/time.ts': `export const ago = 1`,
  'src-renderer/api/client.ts': `import { Shape } from '../../src-runner/contract/shape.ts'\nexport const client = Shape`,
  'src-renderer/ui/Button.tsx': `import { ago } from '../lib/time.ts'\nexport const Button = () => <button>{ago}</button>`,
  'src-renderer/routes/jobs/Jobs.tsx': `import { client } from '../../api/client.ts'\nimport { Button } from '../../ui/Button.tsx'\nexport const Jobs = () => [client, Button]`,
  'e2e/scenarios/seed.ts': `export const seed = 1`,
}

const root = mkdtempSync(join(tmpdir(), 'deckhand-borders-'))
let found: Array<{ rule: string; file: string }> = []

beforeAll(async () => {
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(root, 'node_modules'))
  const files = [...Object.entries(INNOCENT), ...VIOLATIONS.map(([, file, code]) => [file, code] as const)]
  for (const [file, code] of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), `${code}\n`)
  }
  const { enhancedResolveOptions, ...options } = borders.options
  const { output } = await cruise(
    ['src-main', 'src-renderer', 'src-runner', 'resources'],
    { ...options, baseDir: root, ruleSet: { forbidden: borders.forbidden }, validate: true, outputType: 'json' } as ICruiseOptions,
    enhancedResolveOptions,
  )
  const { summary } = JSON.parse(output as string) as { summary: { violations: Array<{ from: string; rule: { name: string } }> } }
  found = summary.violations.map((violation) => ({ rule: violation.rule.name, file: violation.from }))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('the borders', () => {
  test.each(VIOLATIONS)('%s: %s is caught', (rule, file) => {
    expect(found).toContainEqual({ rule, file })
  })

  test('every rule has a planted violation', () => {
    expect(borders.forbidden.map((rule) => rule.name).filter((name) => !VIOLATIONS.some(([rule]) => rule === name))).toEqual([])
  })

  test('nothing else is reported', () => {
    const planted = new Set(VIOLATIONS.map(([rule, file]) => `${rule} ${file}`))
    expect(found.map(({ rule, file }) => `${rule} ${file}`).filter((violation) => !planted.has(violation))).toEqual([])
  })
})

test.each(['src-runner/execution', 'src-runner/domain/jobs', 'src-runner/platform/time', 'src-main/sign-in'])(
  'finds SQL outside of its files in %s',
  (name) => {
    const folder = join(root, name)
    mkdirSync(folder, { recursive: true })
    const lint = (file: string) => {
      writeFileSync(join(folder, file), `export const rows = (db: { prepare(sql: string): unknown }) => db.prepare('SELECT 1')\n`)
      return spawnSync('oxlint', ['-c', join(import.meta.dirname, 'oxlint.json'), join(folder, file)], { encoding: 'utf8' })
    }
    const { status, stdout } = lint('m1.ts')
    expect(stdout).toContain('SQL lives in *.sql.ts files')
    expect(status).toBe(1)
    expect(lint('m1.sql.ts').status).toBe(0)
  },
)

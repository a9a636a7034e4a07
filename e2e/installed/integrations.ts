import { spawn } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@playwright/test'
import { createRealFolder } from '../fixtures/real-folder.ts'
import { installScriptedAgent } from '../../src-runner/testing/coding-agents/install-scripted-agent.ts'
import { findFreePort } from '../../src-runner/testing/free-port.ts'
import { gitIn } from '../../src-runner/testing/git-rig.ts'
import type { ModelServer } from '../../src-runner/testing/model-servers/model-server.ts'
import { startOAuthServer } from '../../src-runner/testing/oauth-server/oauth-server.ts'

/** Asks the runner as the page does. */
export type Ask = <Result>(method: string, path: string, body?: object) => Promise<Result>
/** An installed Deckhand whose agent works by itself, with a model that says what a test tells it. */
export type Installed = { ask: Ask; agentId: string; models: ModelServer }

const EVERYTHING = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const SKILL = `---
name: shell-sorter
description: Sorts shells by size.
---

Measure each shell, then put the largest first.
`

/** Runs a job in which the model makes this call, and returns what the model got for it. */
async function call({ ask, agentId, models }: Installed, name: string, args: object): Promise<string> {
  models.received.length = 0
  models.play({ text: [], toolCalls: [{ id: 'call_1', name, args }] }, { text: ['Done.'] })
  const { jobId } = await ask<{ jobId: string }>('POST', '/api/agent', { task: `Use ${name}.`, agentId })
  await expect
    .poll(async () => (await ask<{ job: { status: string } }>('GET', `/api/jobs/${jobId}`)).job.status, { message: name })
    .toBe('completed')
  return JSON.stringify(models.received.at(-1))
}

type Tools = { ok: boolean; server: { tools: { name: string; digest: string }[] } }

async function addMcpServer({ ask, agentId }: Installed, name: string, transport: object, tool: string): Promise<void> {
  const body = { name, transport, agents: [{ agentId }] }
  const { server } = await ask<{ server: { id: string } }>('POST', '/api/mcp-servers', body)
  const path = `/api/mcp-servers/${server.id}`
  const tested = await ask<Tools>('POST', `${path}/test`)
  expect(tested, name).toMatchObject({ ok: true })
  const { digest } = tested.server.tools.find((one) => one.name === tool)!
  await ask('POST', `${path}/tools`, { tools: [{ name: tool, digest, effect: 'read' }] })
}

/** A program in the sandbox, and the reference server at an address. */
export async function useMcpServers(installed: Installed): Promise<void> {
  const folder = createRealFolder({})
  const program = join(folder.path, 'server.mjs')
  copyFileSync(join(import.meta.dirname, '../fixtures/notes-server.mjs'), program)
  const port = await findFreePort()
  const remote = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await new Promise<void>((resolve, reject) => {
      remote.stderr.on('data', (chunk: Buffer) => /listening/i.test(String(chunk)) && resolve())
      remote.once('exit', () => reject(new Error('the reference server ended')))
    })
    await addMcpServer(installed, 'Notes', { kind: 'stdio', command: 'node', args: [program], folders: [folder.path] }, 'find_note')
    expect(await call(installed, 'notes__find_note', { word: 'the fence' })).toContain('The note about the fence says: paint it blue.')
    await addMcpServer(installed, 'Everything', { kind: 'http', url: `http://127.0.0.1:${port}/mcp` }, 'get-sum')
    expect(await call(installed, 'everything__get-sum', { a: 2, b: 40 })).toContain('42')
  } finally {
    remote.kill()
    folder.remove()
  }
}

export async function useSkill(installed: Installed): Promise<void> {
  const { ask, agentId } = installed
  const folder = createRealFolder({ 'shell-sorter/SKILL.md': SKILL, 'shell-sorter/sizes.md': 'Small, medium, large.\n' })
  const source = join(folder.path, 'shell-sorter')
  const { preview } = await ask<{ preview: { contents: { digest: string } } }>('POST', '/api/skills/preview', { source })
  await ask('POST', '/api/skills', { source, expectedDigest: preview.contents.digest, agents: [{ agentId }] })
  expect(await call(installed, 'use_skill', { skill: 'shell-sorter' })).toContain('put the largest first')
  folder.remove()
}

/** `programs`: a folder in the app's PATH. */
export async function runCodeTask({ ask, agentId }: Installed, programs: string): Promise<void> {
  await installScriptedAgent(programs, 'gemini')
  const shop = createRealFolder({ 'till.ts': 'export const tax = 19\n' })
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '-m', 'Begin'],
  ])
    gitIn(shop.path, ...args)
  await ask('PATCH', `/api/agents/${agentId}`, { folders: [shop.path] })
  const task = 'Fix the tax\n@put till.ts export const tax = 20\\n\n@say The tax is 20 now.'
  const { jobId } = await ask<{ jobId: string }>('POST', '/api/code-tasks', { agentId, cli: 'gemini', folder: shop.path, task })
  type Found = { codeTask: { result: string; jobStatus: string } }
  const path = `/api/code-tasks/${jobId}`
  await expect.poll(async () => (await ask<Found>('GET', path)).codeTask).toMatchObject({ jobStatus: 'completed', result: 'ready' })
  await ask('POST', `${path}/apply`, {})
  expect(gitIn(shop.path, 'diff', '--unified=0')).toContain('+export const tax = 20')
  shop.remove()
}

/** Signs in at a service as a browser of the same person does, and calls it with the account. */
export async function signInToService(installed: Installed, dashboardUrl: string): Promise<void> {
  const callback = `${dashboardUrl}/api/oauth/oauth2/callback`
  const service = await startOAuthServer({ redirectUris: [callback] })
  try {
    await installed.ask('PATCH', '/api/settings', { openedHosts: [service.host] })
    const form = {
      client_id: service.clientId,
      client_secret: service.clientSecret,
      hosts: service.host,
      scope: 'notes:read',
      name: 'Notebook',
      authorization_url: `${service.url}/auth`,
      token_url: `${service.url}/token`,
    }
    const begun = await fetch(`${dashboardUrl}/api/oauth/oauth2/start`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(form),
    })
    expect(begun.status).toBe(303)
    const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!
    const back = await service.agree(begun.headers.get('location')!)
    const fromService = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' }
    const done = await fetch(back, { redirect: 'manual', headers: { ...fromService, cookie } })
    expect(done.headers.get('location'), await done.text()).toBe('/connect/done')
    const { credentials } = await installed.ask<{ credentials: { id: string; status: string }[] }>('GET', '/api/credentials')
    expect(credentials).toMatchObject([{ status: 'connected' }])
    const agents = [{ agentId: installed.agentId, access: 'read' }]
    await installed.ask('PATCH', `/api/credentials/${credentials[0]!.id}`, { agents })
    expect(await call(installed, 'http_request', { connection: 'Notebook', url: `${service.url}/me` })).toContain('ada')
  } finally {
    await service.stop()
  }
}

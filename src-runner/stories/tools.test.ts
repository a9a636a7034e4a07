import { quote } from '../lib/messages.ts'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { noSandbox } from '../platform/sandbox/find-sandbox.ts'
import { COMMAND_NETWORK } from '../contract/rules.ts'
import { AppError } from '../lib/errors.ts'
import { createMemoryVault, WEB_SEARCH_KEY } from '../lib/vault.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'

describe('what agents may use of the web and of this machine', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const open = async (options: TestRunnerOptions = {}) => {
    runner = await createTestRunner(options)
  }
  const setSearch = (webSearch: unknown) => runner.client.ask('updateWebSearch', { body: { webSearch } })
  const searchNow = async () => (await runner.client.ok('getSettings')).settings.webSearch
  const toolNames = async () => (await runner.client.ok('listTools')).tools.map(({ name }) => name)
  const issueOf = ({ status, body }: { status: number; body: unknown }) => [
    status,
    (body as { issues: { path: string }[] }).issues[0]!.path,
  ]

  /** A server of this machine, which writes down what is asked of it. */
  const startSite = async (answer = 'the page') => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
      response.end(answer)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return { seen, port: (server.address() as AddressInfo).port }
  }
  const callOnce = async (name: string, args: unknown): Promise<string> => {
    const agent = await runner.addAgent({ name: `Agent ${Math.random()}`, autonomy: 'on_its_own' })
    runner.modelServer.play({ toolCalls: [{ id: 'c1', name, args }] }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: agent.id } })
    await runner.ended(jobId)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    const result = steps.find(({ kind }) => kind === 'tool_result')
    return result?.kind === 'tool_result' ? result.output : 'nothing was run'
  }

  it('has no web_search until a provider is set up, keeps the key in the vault, and never shows it', async () => {
    const vault = createMemoryVault()
    await open({ vault })
    expect(await toolNames()).not.toContain('web_search')
    expect(issueOf(await setSearch({ kind: 'brave' }))).toEqual([400, 'webSearch.apiKey'])
    expect(issueOf(await setSearch({ kind: 'searxng' }))).toEqual([400, 'webSearch.baseUrl'])
    const { status, body } = await setSearch({ kind: 'brave', apiKey: 'brave-canary' })
    expect([status, await searchNow()]).toEqual([200, { kind: 'brave', baseUrl: null, hasKey: true }])
    expect(JSON.stringify(body)).not.toContain('canary')
    expect(await vault.get(WEB_SEARCH_KEY)).toBe('brave-canary')
    expect(await toolNames()).toContain('web_search')
    await setSearch({ kind: 'brave' })
    expect(await vault.get(WEB_SEARCH_KEY)).toBe('brave-canary')
    expect((await setSearch(null)).status).toBe(200)
    expect([await searchNow(), await vault.get(WEB_SEARCH_KEY)]).toEqual([null, null])
    expect(await toolNames()).not.toContain('web_search')
  })

  it('sends a key to nobody that it was not given for', async () => {
    const vault = createMemoryVault()
    await open({ vault })
    await setSearch({ kind: 'brave', apiKey: 'brave-canary' })
    expect(issueOf(await setSearch({ kind: 'brave', baseUrl: 'http://thief.example' }))).toEqual([400, 'webSearch.apiKey'])
    expect(issueOf(await setSearch({ kind: 'tavily' }))).toEqual([400, 'webSearch.apiKey'])
    expect(await searchNow()).toMatchObject({ kind: 'brave', baseUrl: null })
    await setSearch({ kind: 'searxng', baseUrl: 'http://search.example' })
    expect(await vault.get(WEB_SEARCH_KEY)).toBeNull()
  })

  it('needs a vault for a key, and none without one', async () => {
    const shut = () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.')))
    await open({ vault: { get: shut, set: shut, delete: shut } })
    expect(await setSearch({ kind: 'brave', apiKey: 'k' })).toMatchObject({ status: 503, body: { error: 'vault_unavailable' } })
    expect(await searchNow()).toBeNull()
    expect((await setSearch({ kind: 'searxng', baseUrl: 'http://search.example' })).status).toBe(200)
  })

  it('searches with the server that the person named, on this machine too, and opens nothing else there', async () => {
    const site = await startSite(JSON.stringify({ results: [{ title: 'Deck', url: 'https://deck.example/', content: 'hands' }] }))
    await open()
    await setSearch({ kind: 'searxng', baseUrl: `http://127.0.0.1:${site.port}`, apiKey: 'searx-key' })
    expect(await callOnce('web_search', { query: 'deck' })).toContain('https://deck.example/')
    expect(site.seen).toEqual(['/search?q=deck&format=json Bearer searx-key'])
    expect(await callOnce('web_fetch', { url: `http://127.0.0.1:${site.port}/` })).toContain('leads to this machine itself')
    expect(site.seen).toHaveLength(1)
  })

  it('opens the hosts that the person opened, never its own port, and shuts them again', async () => {
    const site = await startSite()
    await open()
    const setHosts = (openedHosts: string[]) => runner.client.ask('updateSettings', { body: { openedHosts } })
    expect(issueOf(await setHosts(['nas.local', 'http://nas.local/']))).toEqual([400, 'openedHosts.1'])
    for (const wrong of ['a b', 'nas.local/path', 'me@nas.local', '10.0.0.0/33'])
      expect([wrong, (await setHosts([wrong])).status]).toEqual([wrong, 400])
    expect((await setHosts(['127.0.0.0/8', 'nas.local:8080', '[::1]:99', '192.168.1.5'])).status).toBe(200)
    expect(await callOnce('web_fetch', { url: `http://127.0.0.1:${site.port}/` })).toContain('the page')
    expect(await callOnce('web_fetch', { url: `http://127.0.0.1:${runner.port}/api/health` })).toMatch(/^Not run: Agents cannot reach/)
    await setHosts([])
    expect(await callOnce('web_fetch', { url: `http://127.0.0.1:${site.port}/` })).toContain('leads to this machine itself')
    expect(site.seen).toHaveLength(1)
  })

  it('shows whether programs run in a sandbox, and looks again when asked', async () => {
    const looked: boolean[] = []
    const sandbox = noSandbox(quote('bubblewrap is not installed on this machine.'), quote('Install bubblewrap.'))
    await open({ findSandbox: ({ again = false } = {}) => (looked.push(again), Promise.resolve(sandbox)) })
    const { kind, works, reason, advice, network, checkedAt } = sandbox
    expect(await runner.client.ok('getSandbox')).toEqual({ sandbox: { kind, works, reason, advice, checkedAt, network } })
    expect(await runner.client.ok('checkSandbox')).toMatchObject({ sandbox: { kind: 'none', works: false } })
    expect(looked).toEqual([false, true])
  })

  it('asks every time before a program runs without a sandbox, whatever is allowed', async () => {
    await open({ findSandbox: () => Promise.resolve(noSandbox(quote('There is none.'), null)) })
    const folder = runner.makeFolder()
    await runner.client.ok('createRule', { body: { effect: 'allow', tool: 'run_command' } })
    const agent = await runner.addAgent({ autonomy: 'on_its_own', folders: [folder] })
    const args = { command: ['touch', 'here'], folder }
    const { decision } = await runner.client.ok('simulateCall', { body: { agentId: agent.id, tool: 'run_command', args } })
    expect([decision.verdict, decision.decidedBy.source]).toEqual(['ask', 'sandbox'])
  })

  it('gives programs a network only by a rule that names it', async () => {
    const works = { works: true, reason: null, advice: null }
    const sandbox = { ...noSandbox(quote(''), null), kind: 'seatbelt' as const, works: true, network: works }
    await open({ findSandbox: () => Promise.resolve(sandbox) })
    const folder = runner.makeFolder()
    const agent = await runner.addAgent({ folders: [folder] })
    const leaves = async (...command: string[]) => {
      const body = { agentId: agent.id, tool: 'run_command', args: { command, folder } }
      return (await runner.client.ok('simulateCall', { body })).facts.leavesMachine
    }
    const rule = (effect: 'allow' | 'deny', tool: string, pattern: string | null = null) =>
      runner.client.ok('createRule', { body: { effect, tool, pattern } })
    await rule('allow', '*')
    await rule('allow', 'run_command')
    expect(await leaves('npm', 'install')).toBe(false)
    await rule('allow', COMMAND_NETWORK, 'npm *')
    expect([await leaves('npm', 'install'), await leaves('curl', 'x')]).toEqual([true, false])
    await rule('deny', '*', 'npm install*')
    expect([await leaves('npm', 'install'), await leaves('npm', 'test')]).toEqual([false, true])
  })

  it('shows what a program says while it still runs, to those who come later too', async () => {
    await open()
    const folder = runner.makeFolder()
    const agent = await runner.addAgent({ autonomy: 'on_its_own', folders: [folder] })
    await runner.client.ok('createRule', { body: { effect: 'allow', tool: 'run_command' } })
    // It goes on only after it was heard.
    const script = 'echo first; until [ -e heard ]; do sleep 0.05; done; echo second'
    runner.modelServer.play(
      { toolCalls: [{ id: 'c1', name: 'run_command', args: { command: ['sh', '-c', script], folder } }] },
      { text: ['Done.'] },
    )
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Run it', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    const approveWhereThereIsNoSandbox = async () => {
      const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
      for (const { id } of approvals) await runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve' } })
    }
    const heardBy = async () => {
      for (;;) {
        const { events, close } = await runner.client.stream('streamJob', { params: { jobId } })
        for await (const { event, data } of events) {
          if (event !== 'tool_output') continue
          close()
          return (data as { text: string }).text
        }
        await approveWhereThereIsNoSandbox()
      }
    }
    expect(await heardBy()).toBe('first\n')
    expect(await heardBy()).toBe('first\n')
    writeFileSync(join(folder, 'heard'), '')
    expect((await runner.ended(jobId)).status).toBe('completed')
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    expect(steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : [])).join()).toContain('first\nsecond')
  })

  it("finds the person's programs, reports them to the model and the health check, and leaves out agents' folders", async () => {
    const folders: string[] = []
    await open({ listProgramFolders: async () => folders })
    const folder = runner.makeFolder({ git: '#!/bin/sh' })
    folders.push('/usr/bin', folder, '.')
    const agent = await runner.addAgent({ folders: [folder] })
    const programs = async () => (await runner.client.ok('getDoctor')).checks.find(({ name }) => name === 'programs')
    // With every look at the sandbox, also by hand.
    await runner.client.ok('checkSandbox')
    await expect
      .poll(async () => (await programs())?.finding)
      .toMatchObject({
        code: 'several',
        params: {
          first: { code: 'check_programs', params: { names: expect.arrayContaining(['git']) as string[] } },
          second: {
            code: 'check_programs_left_out',
            params: { folders: [{ params: { folders: [folder], why: 'agents_write' } }, { params: { folders: ['.'], why: 'relative' } }] },
          },
        },
      })
    await expect.poll(() => runner.logLines.filter((line) => line.includes("read the person's program folders"))).toHaveLength(2)
    runner.modelServer.play({ text: ['Hello.'] })
    await runner.ended((await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })).jobId)
    expect(JSON.stringify(runner.modelServer.received.at(-1))).toMatch(/Installed, among others: git/)
    await runner.client.ok('updateSettings', { body: { ownPrograms: false } })
    expect(await programs()).toMatchObject({ state: 'ok', finding: { params: { second: { code: 'check_programs_own_off' } } } })
  })

  it('tells the model of the programs in a job that goes on right after a start, while they are still looked for', async () => {
    let looking = Promise.resolve()
    await open({ listProgramFolders: () => looking.then(() => ['/usr/bin']) })
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['Hello.'] }, { text: ['Hello.'] })
    const held = runner.modelServer.holdBefore(0)
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    await runner.modelServer.untilQuiet()
    held.release()
    const slow = Promise.withResolvers<void>()
    looking = slow.promise
    await runner.restart({ crash: true })
    await expect
      .poll(async () => (await runner.client.ok('getJob', { params: { jobId } })).job)
      .toMatchObject({ status: 'running', attempt: 2 })
    await runner.client.ok('listJobs', {})
    slow.resolve()
    await runner.ended(jobId)
    const [before, after] = runner.modelServer.received.filter(({ path }) => path.endsWith('/chat/completions')).slice(-2)
    expect(JSON.stringify(before!.body)).toMatch(/Installed, among others: /)
    expect(after!.body).toEqual(before!.body)
  })
})

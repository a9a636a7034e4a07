import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { messageOf } from '../../lib/errors.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { ALL_TOOLS } from '../tools/all-tools.ts'
import { describeTool } from '../tools/tool.ts'
import { createDemoModel } from './demo.ts'
import type { ModelEvent, ModelRequest, PromptMessage } from './model.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const demo = createDemoModel({ clock: createHandClock(), wordMs: 0 })

type Told = { text: string; calls: { name: string; args: unknown }[] }

async function reply(
  request: ModelRequest,
): Promise<{ text: string; calls: Extract<ModelEvent, { type: 'tool_call' }>[]; last: ModelEvent }> {
  let text = ''
  const calls: Extract<ModelEvent, { type: 'tool_call' }>[] = []
  let last: ModelEvent | undefined
  for await (const event of demo.stream(request, new AbortController().signal)) {
    if (event.type === 'text') text += event.text
    if (event.type === 'tool_call') calls.push(event)
    last = event
  }
  return { text, calls, last: last! }
}

/** Does the whole job with the real tools, as the loop would. */
async function work(task: string, folders: string[] = [folder], tools = ALL_TOOLS): Promise<Told> {
  const messages: PromptMessage[] = [
    { role: 'system', text: 'You are an agent.' },
    { role: 'user', text: 'an earlier message about files' },
    { role: 'assistant', text: 'an earlier answer', toolCalls: [] },
    { role: 'user', text: task },
  ]
  const made: Told['calls'] = []
  for (let turn = 0; turn < 8; turn++) {
    const request = { model: 'demo', messages, tools: tools.map(describeTool), maxOutputTokens: null }
    const { text, calls, last } = await reply(request)
    expect(await reply(request)).toEqual({ text, calls, last })
    if (calls.length === 0) return { text, calls: made }
    messages.push({ role: 'assistant', text, toolCalls: calls })
    for (const call of calls) {
      made.push({ name: call.name, args: call.args })
      const tool = tools.find(({ name }) => name === call.name)!
      const context = { jobId: 'j', agentId: 'a', callId: call.callId, folders, closedFolders: [], signal: new AbortController().signal }
      const result = await Promise.resolve()
        .then(() => tool.run(tool.args.parse(call.args), context))
        .catch((thrown: unknown) => ({ ok: false, output: messageOf(thrown) }))
      messages.push({ role: 'tool', callId: call.callId, name: call.name, ...result })
    }
  }
  throw new Error('the demo never ends')
}

const LOOK = 'Look at the files in my folder and tell me what is in them'

describe('a first job', () => {
  it('reads the folder and reports what is in it', async () => {
    writeFileSync(join(folder, 'notes.md'), '# Garden\n\nPlant the beans in May.\nWater them.\n')
    writeFileSync(join(folder, 'budget.csv'), 'item,price\nbeans,3\n')
    writeFileSync(join(folder, 'photo.jpg'), Buffer.from([0xff, 0xd8, 0xff, 0xe0]))
    mkdirSync(join(folder, 'old'))
    const { text, calls } = await work(LOOK)
    const name = basename(folder)
    expect(calls).toEqual([
      { name: 'list_files', args: {} },
      { name: 'read_file', args: { path: `${name}/notes.md`, limit: 60 } },
      { name: 'read_file', args: { path: `${name}/budget.csv`, limit: 60 } },
    ])
    expect(text).toContain('**3 files** and 1 folder:')
    expect(text).toMatch(/- `notes\.md`: 46 bytes, changed \d{4}-\d\d-\d\d/)
    expect(text).toContain('**`notes.md`** (4 lines) begins:\n\n> `Garden`\n>\n> `Plant the beans in May.`')
    expect(text).toContain('`item,price`')
    expect(text).toMatch(/built-in demo model.*3 real tool calls/)
  })

  it('reads the file that the task names', async () => {
    for (const name of ['a.md', 'b.md', 'c.md', 'd.md', 'plan.json']) writeFileSync(join(folder, name), `this is ${name}`)
    const { calls, text } = await work('What does plan.json say?')
    expect(calls[1]!.args).toMatchObject({ path: `${basename(folder)}/plan.json` })
    expect(text).toContain('`this is plan.json`')
  })

  it('opens a folder if there are only folders', async () => {
    mkdirSync(join(folder, 'letters'))
    writeFileSync(join(folder, 'letters', 'to-anna.txt'), 'Dear Anna')
    const { text, calls } = await work(LOOK)
    expect(calls.map(({ name }) => name)).toEqual(['list_files', 'list_files', 'read_file'])
    expect(text).toContain('`Dear Anna`')
  })

  it('gives up on folders without files', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) mkdirSync(join(folder, name))
    const { text, calls } = await work(LOOK)
    expect(calls.length).toBeLessThanOrEqual(3)
    expect(text).toMatch(/found 5 folders, but no files/)
  })

  it('says that the folder is empty', async () => {
    expect((await work(LOOK)).text).toMatch(/it is empty\. Put a few files there/)
  })

  it('counts more files than it names', async () => {
    for (let n = 0; n < 700; n++) writeFileSync(join(folder, `f${String(n).padStart(3, '0')}.png`), '')
    const { text, calls } = await work(LOOK)
    expect(calls).toHaveLength(1)
    expect(text).toContain('**700 files**')
    expect(text).toContain('…and 688 more')
  })

  it('shows file text as code, never as markup', async () => {
    writeFileSync(join(folder, 'evil.md'), '![x](http://evil.example/p.png)\n<script>alert(1)</script>\n`code`\n')
    const { text } = await work(LOOK)
    expect(text).toContain('> `![x](http://evil.example/p.png)`')
    expect(text).toContain('> `<script>alert(1)</script>`')
    expect(text.replace(/`[^`\n]*`/g, '')).not.toMatch(/evil|script/)
  })

  it.each([
    ['binary in disguise', 'notes.txt', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), /`notes\.txt`\*\* could not be read/],
    ['blank', 'notes.txt', Buffer.from('\n\n  \n'), /has no text in it/],
    ['one endless line', 'notes.txt', Buffer.from('x'.repeat(100_000)), /x{100,158}…/],
    ['in UTF-16', 'notes.txt', Buffer.from('\ufeffGrüße', 'utf16le'), /`Grüße`/],
  ])('handles a file that is %s', async (_what, name, bytes, expected) => {
    writeFileSync(join(folder, name), bytes)
    expect((await work(LOOK)).text).toMatch(expected)
  })

  it('explains what to do without a folder or tools', async () => {
    for (const told of [await work(LOOK, []), await work(LOOK, [folder], [])]) {
      expect(told.text).toMatch(/has no folder yet.*Folders/s)
    }
  })

  it('reports a denied call', async () => {
    const messages: PromptMessage[] = [
      { role: 'user', text: LOOK },
      { role: 'assistant', text: '', toolCalls: [{ callId: 'call_1', name: 'list_files', args: {} }] },
      { role: 'tool', callId: 'call_1', name: 'list_files', ok: false, output: 'A person denied this call.' },
    ]
    const { text, calls } = await reply({ model: 'demo', messages, tools: ALL_TOOLS.map(describeTool), maxOutputTokens: null })
    expect(calls).toEqual([])
    expect(text).toMatch(/could not list the folder.*A person denied this call/)
  })
})

describe('the suggestions of the German page', () => {
  it.each([
    'Sieh dir meinen Ordner an und sag mir, was darin ist.',
    'Welche Dateien gibt es, und worum geht es darin?',
    'Fasse meine Notizen in zehn Punkten zusammen, mit Quellen.',
    'Liste meine Texte und sag mir, welcher die meiste Arbeit braucht.',
    'Lies den neuesten Entwurf in meinem Ordner Korrektur.',
    'Sieh in deinen Ordner und sag mir, was darin liegt.',
  ])('%s', async (task) => {
    writeFileSync(join(folder, 'brief.txt'), 'Sehr geehrte Damen und Herren')
    const { text, calls } = await work(task)
    expect(calls.map(({ name }) => name)).toEqual(['list_files', 'read_file'])
    expect(text).toContain('Sehr geehrte Damen und Herren')
  })
})

describe('a command', () => {
  const told = { role: 'user', text: 'Run a command, so that I see how you ask me first.' } as const
  const listed = (output: string): PromptMessage[] => [
    { role: 'assistant', text: '', toolCalls: [{ callId: 'call_1', name: 'list_files', args: {} }] },
    { role: 'tool', callId: 'call_1', name: 'list_files', ok: true, output },
  ]
  const ran = (ok: boolean, output: string): PromptMessage[] => [
    { role: 'assistant', text: '', toolCalls: [{ callId: 'call_2', name: 'run_command', args: {} }] },
    { role: 'tool', callId: 'call_2', name: 'run_command', ok, output },
  ]
  const runCommand = { name: 'run_command', description: 'Runs a program.', parameters: { type: 'object' } }
  const ask = (...messages: PromptMessage[]) =>
    reply({ model: 'demo', messages: [told, ...messages], tools: [...ALL_TOOLS.map(describeTool), runCommand], maxOutputTokens: null })

  it('lists the folder, then runs the command in it', async () => {
    expect((await ask()).calls).toMatchObject([{ name: 'list_files' }])
    const { text, calls } = await ask(...listed('My notes: 2 files\nkind\tsize\tmodified\tpath'))
    expect(calls).toMatchObject([{ name: 'run_command', args: { folder: 'My notes' } }])
    expect(text).toContain('nothing runs before you answer')
  })

  it('reports the output, or the refusal', async () => {
    const before = listed('Docs: empty')
    expect((await ask(...before, ...ran(true, 'Exit code 0\ntotal 0'))).text).toMatch(/It ran.*total 0/s)
    const refused = await ask(...before, ...ran(false, 'The person said no.'))
    expect(refused.calls).toEqual([])
    expect(refused.text).toMatch(/did not run.*The person said no/s)
  })
})

describe('a search', () => {
  it('shows each match with its place', async () => {
    writeFileSync(join(folder, 'a.txt'), 'Invoice 17\nnothing\nthe invoice is late\n')
    const { text, calls } = await work('Search my files for “invoice”.')
    expect(calls).toEqual([{ name: 'search_files', args: { query: 'invoice' } }])
    expect(text).toContain('I found `invoice` in 2 lines of 1 file')
    expect(text).toContain(`**\`${basename(folder)}/a.txt:3\`**: \`the invoice is late\``)
  })

  it('says that nothing was found', async () => {
    writeFileSync(join(folder, 'a.txt'), 'hello')
    expect((await work('find unicorns in my folder')).text).toMatch(/none of them contains `unicorns`/)
  })

  it.each([
    ['Search my files for invoice', 'invoice'],
    ['Which notes mention the dentist?', 'dentist'],
    ['find all files that contain "blue moon"', 'blue moon'],
    ["Where is 'the key' in my documents?", 'the key'],
    ['Please look for tax return in my folder.', 'tax return'],
    ['search for TODO', 'TODO'],
    ['Can you find every document about Lisbon?', 'Lisbon'],
    ['Finde alles über Geld in meinen Dateien.', 'Geld'],
    ['Suche nach Rechnung in meinem Ordner', 'Rechnung'],
  ])('%s', async (task, query) => {
    expect((await work(task)).calls[0]).toEqual({ name: 'search_files', args: { query } })
  })
})

describe('a conversation', () => {
  it.each([
    ['Hi', /^Hello!/],
    ['good morning :)', /^Hello!/],
    ['Who are you?', /I do not think: I follow a script/],
    ['what can you do', /demo model/],
    ['Wer bist du, und wie arbeitest du?', /demo model/],
    ['Was kannst du für mich tun?', /demo model/],
    ['thanks!', /You are welcome/],
    ['What is the capital of France?', /cannot really think about that/],
    ['', /cannot really think about that/],
    ['🙂', /cannot really think about that/],
    ['x'.repeat(200_000), /cannot really think about that/],
  ])('replies honestly to %.30s and suggests what to do next', async (task, expected) => {
    const { text, calls } = await work(task)
    expect(calls).toEqual([])
    expect(text).toMatch(expected)
    expect(text).toMatch(/demo model|You are welcome/)
    expect(text).toMatch(/Look at the files in my folder/)
  })
})

it('streams word by word at the pace of its clock, and stops at once', async () => {
  const clock = createHandClock()
  const slow = createDemoModel({ clock })
  const stop = new AbortController()
  const request = { model: 'demo', messages: [{ role: 'user' as const, text: 'hi' }], tools: [], maxOutputTokens: null }
  const stream = slow.stream(request, stop.signal)[Symbol.asyncIterator]()
  const first = stream.next()
  expect(await clock.untilSleeping(() => true)).toBe(25)
  clock.advance(25)
  expect((await first).value).toEqual({ type: 'text', text: 'Hello! ' })
  const second = stream.next()
  const reason = new Error('stopped')
  stop.abort(reason)
  await expect(second).rejects.toBe(reason)
})

import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shortCodeOf } from '../domain/approvals/short-code.ts'
import { ANNA, useTelegramRig } from '../testing/telegram-chat.ts'
import type { ServedToolCall } from '../testing/model-servers/reply.ts'

/** A chat offers to approve only what it shows whole. */
describe('an approval in a chat', () => {
  const rig = useTelegramRig()
  const { beginConnected, letIn, pending, said } = rig
  let folder: string

  async function ask(toolCall: Omit<ServedToolCall, 'id'>): Promise<string> {
    const { agentId } = await beginConnected({ autonomy: 'ask_first' })
    folder = rig.runner.makeFolder({ 'old.txt': 'old' })
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    return askMore(toolCall)
  }
  async function askMore(toolCall: Omit<ServedToolCall, 'id'>): Promise<string> {
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', ...toolCall }] }, { text: ['Done.'] })
    rig.bot.say(ANNA, 'Do it')
    await expect.poll(async () => (await pending()).length).toBe(1)
    const { id } = (await pending())[0]!
    await rig.bot.until(() => questionOf(id) !== undefined)
    return id
  }
  const questionOf = (id: string) => rig.bot.sent.find(({ buttons }) => buttons.some((one) => one.callback_data.endsWith(id)))
  const labelsOf = (id: string) => questionOf(id)!.buttons.map(({ text }) => text)
  const documents = () => rig.bot.sent.flatMap(({ document }) => (document === null ? [] : [Buffer.from(document.bytes).toString()]))
  const write = (content: string) => ({ name: 'write_file', args: { path: 'folder-1/new.txt', content } })
  const LONG = `${'All is well. '.repeat(200)}rm -rf everything`

  it('shows the whole content of a file that is to be written', async () => {
    const id = await ask(write('first line\nsecond line'))
    expect(questionOf(id)!.text).toContain('content:\nfirst line\nsecond line')
    expect([labelsOf(id), documents()]).toEqual([['Approve', 'Reject'], []])
  })

  it.each([
    ['a file', write(LONG)],
    ['a command', { name: 'run_command', args: { command: ['sh', '-c', LONG], folder: 'folder-1' } }],
  ])('attaches %s that is too long for a message, before the question', async (_, toolCall) => {
    const id = await ask(toolCall)
    expect(documents()).toEqual([expect.stringContaining('rm -rf everything')])
    expect(rig.bot.sent.findIndex(({ document }) => document !== null)).toBeLessThan(rig.bot.sent.indexOf(questionOf(id)!))
    expect(labelsOf(id)).toEqual(['Approve', 'Reject'])
    expect(questionOf(id)!.text).toContain('The complete call is in the file approval.txt above.')
  })

  it('is not offered, by no button and no code, when the attachment was not taken', async () => {
    await beginConnected({ autonomy: 'ask_first' })
    const { agentId } = await rig.channelNow()
    folder = rig.runner.makeFolder()
    await rig.runner.client.ok('updateAgent', { params: { agentId }, body: { folders: [folder] } })
    await letIn(ANNA)
    rig.bot.fault('sendDocument', { kind: 'error', code: 500, description: 'Internal Server Error' }, 100)
    const id = await askMore(write(LONG))
    expect(labelsOf(id)).toEqual(['Reject'])
    expect(questionOf(id)!.text).toContain('you can only approve this in Deckhand')
    rig.bot.press(ANNA, `approve:${id}`)
    await rig.bot.until(() => rig.bot.notes.length === 1)
    expect(rig.bot.notes[0]!.text).toBe('Not everything about this was shown here. Open Deckhand to approve it.')
    rig.bot.say(ANNA, `approve ${shortCodeOf(id)}`)
    await rig.bot.until(() => said(ANNA).includes('Not everything about this was shown here. Open Deckhand to approve it.'))
    expect([(await pending()).length, readdirSync(folder)]).toEqual([1, []])
    rig.bot.press(ANNA, `reject:${id}`)
    await rig.untilSaid(ANNA, 'Done.')
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes out characters that cannot be seen', async () => {
    const id = await ask(write('safe\u202etxt\u200b.exe'))
    expect(questionOf(id)!.text).toContain('safe\\u{202e}txt\\u{200b}.exe')
  })

  it('shows the whole of a question, and choices that a button would cut', async () => {
    const long = `Keep the files ${'of last year '.repeat(8)}and delete the rest`
    const question = `${'A word. '.repeat(300)}Which one?`
    const { agentId } = await beginConnected()
    expect(agentId).toBeDefined()
    await letIn(ANNA)
    rig.runner.modelServer.play({ toolCalls: [{ id: 'call_1', name: 'ask_person', args: { question, choices: ['Keep all', long] } }] })
    rig.bot.say(ANNA, 'Tidy up')
    await rig.untilSaid(ANNA, /Which one\?/)
    expect(said(ANNA).join('\n')).toContain(`2. ${long}`)
  })
})

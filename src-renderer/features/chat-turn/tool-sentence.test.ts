import { afterEach, describe, expect, it } from 'vitest'
import { changeLanguage } from '../../lib/language.ts'
import { toolFact, toolSentence } from './tool-sentence.ts'

afterEach(() => changeLanguage('system'))

describe('a tool call in words', () => {
  it.each([
    ['read_file', { path: 'notes.md' }, 'done', 'Read notes.md'],
    ['read_file', { path: 'notes.md' }, 'running', 'Reading notes.md'],
    ['read_file', { path: 'notes.md' }, 'failed', 'Reading notes.md'],
    ['read_file', { path: 'Docs/a/b/c/plan.md' }, 'done', 'Read …/c/plan.md'],
    ['list_files', {}, 'done', 'Listed its folders'],
    ['list_files', { path: 'Docs' }, 'done', 'Listed Docs'],
    ['search_files', { query: 'invoice' }, 'done', 'Searched for “invoice”'],
    ['search_files', { query: 'a\nb'.repeat(60) }, 'done', /^Searched for “a b.{70,80}…”$/],
    ['web_fetch', { url: 'https://x.test/a' }, 'done', 'Fetched x.test/a'],
    ['edit_file', { path: 'Docs/a/b/c/plan.md', find: 'x' }, 'done', 'Edited …/c/plan.md'],
    ['move_file', { from: 'a/one.md', to: 'b/two.md' }, 'running', 'Moving a/one.md → b/two.md'],
    ['delete_file', { path: 'old.md' }, 'failed', 'Deleting old.md'],
    ['run_command', { command: ['git', 'log', '-3'], folder: '/x' }, 'done', 'Ran git log -3'],
    ['web_search', { query: 'trains to Lisbon' }, 'done', 'Searched the web for “trains to Lisbon”'],
    ['remember', { text: 'Tea, no coffee' }, 'done', 'Remembered “Tea, no coffee”'],
    ['keep_state', { state: 'two orders' }, 'done', 'Saved “two orders” for the next run'],
    ['nothing_new', {}, 'done', 'Nothing new'],
    ['recall', { query: 'tea' }, 'done', 'Looked up “tea” in memory'],
    ['forget', { id: 'm1' }, 'done', 'Deleted a memory'],
    ['delegate', { agent: 'Bruno', task: 'x' }, 'running', 'Delegating to Bruno'],
    ['ask_person', { question: 'Which year?' }, 'asked', 'Asking you “Which year?”'],
    ['return_result', { summary: 'All done' }, 'done', 'Returned “All done”'],
    ['code_start', { program: 'Claude Code', folder: '/home/ada/shop' }, 'running', 'Starting Claude Code'],
    ['code_read', { title: 'Read', path: 'src/a/b/cart.ts' }, 'done', 'Read …/b/cart.ts'],
    ['code_read', { title: 'grep "total"', paths: [] }, 'done', '“grep "total"”'],
    ['code_edit', { title: 'Edit', paths: ['cart.ts', 'b.ts', 'c.ts'], diff: '' }, 'running', 'Editing cart.ts and 2 more'],
    ['code_command', { title: 'Test', command: 'npm test' }, 'done', 'Ran npm test'],
    ['code_fetch', { title: 'Fetch', url: 'https://x.test/a' }, 'done', 'Fetched x.test/a'],
    ['code_other', { title: 'Update the plan', input: '{}' }, 'done', '“Update the plan”'],
    ['code_other', { title: 7 }, 'done', 'Used code other'],
    ['code_task', { task: 'Fix the cart' }, 'done', 'Gave a coding agent “Fix the cart”'],
    ['write_file', undefined, 'running', 'Using write file'],
    ['read_file', 'not json', 'failed', 'Using read file'],
    ['read_file', { path: 7 }, 'failed', 'Using read file'],
    ['brand_new_tool', { a: 1 }, 'done', 'Used brand new tool'],
    ['constructor', {}, 'done', 'Used constructor'],
  ] as const)('%s %j %s', (name, args, state, expected) => {
    const sentence = toolSentence({ name, args, state })
    if (typeof expected === 'string') expect(sentence).toBe(expected)
    else expect(sentence).toMatch(expected)
  })

  it('is in the language of the person', () => {
    changeLanguage('de')
    expect(toolSentence({ name: 'read_file', args: { path: 'notes.md' }, state: 'done' })).toBe('notes.md gelesen')
  })

  it.each([
    ['read_file', 'notes/a.md (900 bytes, UTF-8, lines 11-130 of more)\nx', '120 lines'],
    ['read_file', 'notes/a.md (0 bytes, empty)', null],
    ['list_files', 'Docs: 1 folder, 1 file\nfolder\t-\t-\tDocs/a/\nfile\t12\t2026\tDocs/b.md', '2 entries'],
    ['list_files', 'Docs: empty', 'empty'],
    ['search_files', '12 matches in 3 files (9 files searched)\nDocs/a:1: x', '12 matches'],
    ['search_files', '1 match in 1 file (9 files searched)', '1 match'],
    ['search_files', 'No matches (1 file searched)', 'no matches'],
    ['brand_new_tool', 'ok', null],
  ] as const)('what came of %s: %j', (name, output, expected) => {
    const result = { kind: 'tool_result', seq: 2, attempt: 1, createdAt: 1, durationMs: 1, callId: 'c', name, ok: true, output } as const
    expect(toolFact({ name, state: 'done', result })).toBe(expected)
    expect(toolFact({ name, state: 'failed', result: { ...result, ok: false } })).toBeNull()
  })
})

import { bytesText } from '../../../resources/locales/numbers.ts'
import type { Clock } from '../../lib/clock.ts'
import { cutText, plural } from '../../lib/text.ts'
import { isRecord } from '../../lib/json-values.ts'
import { baseName, code, type ListedFile, pickReadable, readExcerpt, readListing, readMatches } from './demo-reading.ts'
import type { ModelAdapter, ModelRequest } from './model.ts'
import { createScriptedModel, currentJob, type Script, type ScriptReply } from './scripted.ts'

/** About the pace of a fast model. */
const READING_PACE_MS = 25

const DEMO_LISTED = { model: 'demo', label: 'Demo (built in, offline)', contextTokens: null }

/** The built-in model: no account, no network, no cost. It follows a script and says so, but it really calls the agent's tools. */
export function createDemoModel(deps: { clock: Clock; wordMs?: number }): ModelAdapter {
  return createScriptedModel(demoScript, { clock: deps.clock, wordMs: deps.wordMs ?? READING_PACE_MS, models: [DEMO_LISTED] })
}

export const demoScript: Script = (request) => {
  const task = readTask(request)
  switch (task.intent) {
    case 'approval':
      return task.has('run_command') && task.has('list_files') ? runAskingFirst(task) : say(NO_FOLDER)
    case 'search':
      if (task.has('search_files')) return search(task)
      return task.has('list_files') ? lookAtFiles(task) : say(NO_FOLDER)
    case 'files':
      return task.has('list_files') ? lookAtFiles(task) : say(NO_FOLDER)
    case 'greeting':
      return say(`Hello! I am the demo model that is built into Deckhand.\n\n${WHAT_NEXT}`)
    case 'about':
      return say(`${ABOUT}\n\n${WHAT_NEXT}`)
    case 'thanks':
      return say(`You are welcome!\n\n${WHAT_NEXT}`)
    case 'other':
      return say(`${CANNOT_THINK}\n\n${WHAT_NEXT}\n\n${REAL_MODEL}`)
  }
}

const ABOUT =
  'I am the **demo model** that is built into Deckhand. I run on this machine, offline, and cost nothing. I do not think: I follow a script. ' +
  'What I show is real all the same. The tools I call are your agent’s tools, and every step of the job is recorded exactly as it is with a real model.'

const CANNOT_THINK =
  'I am the built-in demo model, so I cannot really think about that: I follow a script and work without an account or a network.'

const WHAT_NEXT =
  'What I do well is a first job with real files. Give this agent a folder (in its settings, under **Folders**), then send me one of these:\n\n' +
  '- *Look at the files in my folder and tell me what is in them.*\n' +
  '- *Search my files for “invoice”.*\n' +
  '- *Run a command, so that I see how you ask me first.*'

const REAL_MODEL =
  'For real answers, add a model in **Models & keys** (with a key of Anthropic, OpenAI or Google, or with Ollama on this machine) and choose it for this agent.'

const NO_FOLDER =
  'I would like to look at your files, but this agent has no folder yet.\n\n' +
  '1. Open the agent’s settings.\n2. Add a folder under **Folders**. The agent sees that folder and nothing else.\n3. Send me the same message again.\n\n' +
  '*I am the built-in demo model, and reading a folder is what I do best.*'

type Call = { name: string; args: Record<string, unknown>; ok: boolean; output: string }

type Task = {
  intent: 'approval' | 'files' | 'search' | 'greeting' | 'about' | 'thanks' | 'other'
  text: string
  has(tool: string): boolean
  done: Call[]
}

function readTask(request: ModelRequest): Task {
  const text = request.messages.findLast((message) => message.role === 'user')?.text ?? ''
  const calls = new Map<string, unknown>()
  const done: Call[] = []
  for (const message of currentJob(request.messages)) {
    if (message.role === 'assistant') for (const call of message.toolCalls) calls.set(call.callId, call.args)
    if (message.role !== 'tool') continue
    const args = calls.get(message.callId)
    done.push({ name: message.name, args: isRecord(args) ? args : {}, ok: message.ok, output: message.output })
  }
  return { intent: intentOf(text), text, has: (tool) => request.tools.some(({ name }) => name === tool), done }
}

// The page's suggestions must work in English and German. `\b` has no boundary at umlauts.
const APPROVAL =
  /\b(approvals?|approve|permission|ask(s|ing)? me (first|before)|run (a|the|some) (command|program)|genehmig\w*|freigabe\w*|um erlaubnis|befehl)\b/i
const FILES =
  /\b(dateien|datei|ordners?|dokumente?n?|notiz(en)?|texte?n?|entwurf|unterlagen|verzeichnis(se)?|schreibtisch|files?|folders?|director(y|ies)|documents?|downloads?|desktop|notes?|papers?|readme|[\w-]+\.(txt|md|csv|pdf|json|docx?))\b/i
const SEARCH =
  /\b(suche?n?|durchsuche?n?|finde[tn]?|wo (ist|sind|steht|stehen)|erw(ä|ae)hn\w*|enth(ä|ae)lt|enthalten|search|find|look(ing)? for|grep|where (is|are|do|does)|which (files?|documents?|notes?)|contain(s|ing)?|mention(s|ed|ing)?)\b/i
const ABOUT_ME =
  /\b(wer|was) bist du\b|\bwas kannst du\b|\bstell dich vor\b|\bwie funktionierst du\b|\b(who|what) are you\b|\bwhat (can|do) you do\b|\bhow do you work\b|\bare you (an? )?(ai|real|human|bot|demo|model)\b|\bwhat is this\b|^\s*help\b/i
const GREETING =
  /^\W*(hi|hello|hey|hiya|howdy|greetings|good (morning|afternoon|evening|day)|guten (morgen|tag|abend)|hallo|moin|servus|hola|bonjour|ciao|test(ing)?)\b/i
const THANKS = /\b(danke|thanks|thank you|thx)\b/i

function intentOf(text: string): Task['intent'] {
  if (APPROVAL.test(text)) return 'approval'
  if (SEARCH.test(text) && searchTermOf(text) !== null) return 'search'
  if (FILES.test(text)) return 'files'
  if (ABOUT_ME.test(text)) return 'about'
  const isShort = text.trim().split(/\s+/).length <= 6
  if (isShort && GREETING.test(text)) return 'greeting'
  if (isShort && THANKS.test(text)) return 'thanks'
  return 'other'
}

const AFTER_VERB =
  /\b(?:suche?n? nach|durchsuche?n? .{1,60} nach|erw(?:ä|ae)hn\w*|finde[tn]? (?:alles )?(?:über|zu)|enth(?:ä|ae)lt|search(?:ing)?|look(?:ing)? for|find|grep|mention(?:s|ing|ed)?|contain(?:s|ing)?|about|for)\s+(.{1,100}?)(?=\s+(?:in|inside|within|under|on)\s+(?:meine[mnr]?|de[mnr]|my|the|this|these|all|your)\b|[.?!,\n]|$)/gi
const FILLER =
  /^(?:(?:all|every|any|the|my|a|an|files?|documents?|notes?|folders?|everything|lines?|places?|that|which|with|about|for|where|contain(?:s|ing)?|mention(?:s|ing)?|words?|text|in|of|me)(?:\s+|$))+/i

/** Text in quotes, else the words after "for", "mentions" and the like. */
function searchTermOf(text: string): string | null {
  const quoted = /["“„«]([^"“”„«»\n]{1,100})["”“»]|(?<!\w)['‘]([^'‘’\n]{1,100})['’](?!\w)/.exec(text)
  const inQuotes = (quoted?.[1] ?? quoted?.[2] ?? '').trim()
  if (inQuotes !== '') return inQuotes
  const terms = [...text.matchAll(AFTER_VERB)].map((match) => match[1]!.replace(FILLER, '').trim())
  return terms.findLast((term) => term !== '' && !/^(it|them|something|out|what)\b/i.test(term)) ?? null
}

const MAX_READ = 3
const READ_LINES = 60
const MAX_FOLDERS_OPENED = 2
const MAX_NAMED = 12

function lookAtFiles(task: Task): ScriptReply {
  const lists = task.done.filter(({ name }) => name === 'list_files')
  if (lists.length === 0) return act('I will start by looking at what is in your folder.', [{ name: 'list_files', args: {} }])

  const failed = lists.find(({ ok }) => !ok)
  if (failed !== undefined) return /no folders/i.test(failed.output) ? say(NO_FOLDER) : say(couldNot('list the folder', failed))

  const listings = lists.map(({ output }) => readListing(output))
  const files = listings.flatMap((listing) => listing.files)
  const folders = listings.flatMap((listing) => listing.folders)
  if (files.length === 0) return lookDeeper(folders, lists)

  const reads = task.done.filter(({ name }) => name === 'read_file')
  const picks = task.has('read_file') ? pickReadable(files, task.text, MAX_READ) : []
  const total = listings.reduce((sum, listing) => sum + listing.total, 0)
  if (reads.length === 0 && picks.length > 0) {
    const names = new Intl.ListFormat('en').format(picks.map((path) => code(baseName(path))))
    return act(
      `I found ${plural(total, 'file')}. I will read the beginning of ${names}.`,
      picks.map((path) => ({ name: 'read_file', args: { path, limit: READ_LINES } })),
    )
  }
  return say([overview(files, folders, total), ...reads.map(describeRead), '---', howItWent(task)].join('\n\n'))
}

/** Opens the next folder, a few times, if there are only folders. */
function lookDeeper(folders: string[], lists: Call[]): ScriptReply {
  const next = folders.find((folder) => !baseName(folder).startsWith('.') && !lists.some(({ args }) => args['path'] === folder))
  if (next !== undefined && lists.length <= MAX_FOLDERS_OPENED) {
    return act(`There are only folders here. I will open ${code(baseName(next))}.`, [{ name: 'list_files', args: { path: next } }])
  }
  const but = folders.length === 0 ? 'it is empty' : `I found ${plural(folders.length, 'folder')}, but no files`
  return say(`I looked into your folder, and ${but}. Put a few files there (notes, a table, a read-me) and send me the same message again.`)
}

function overview(files: ListedFile[], folders: string[], total: number): string {
  const and = folders.length === 0 ? '' : ` and ${plural(folders.length, 'folder')}`
  const rows = files.slice(0, MAX_NAMED).map(({ path, size, changed }) => {
    const facts = [...(size === null ? [] : [bytesText(size, 'en')]), ...(changed === null ? [] : [`changed ${changed}`])]
    return `- ${code(baseName(path))}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`
  })
  const rest = total > rows.length ? [`- …and ${total - rows.length} more`] : []
  return [`I found **${plural(total, 'file')}**${and}:`, [...rows, ...rest].join('\n')].join('\n\n')
}

function describeRead(read: Call): string {
  const path = read.args['path']
  const name = code(baseName(typeof path === 'string' ? path : 'a file'))
  if (!read.ok) return `**${name}** could not be read: ${oneLine(read.output)}`
  const { lines, lineCount } = readExcerpt(read.output, 3)
  if (lines.length === 0) return `**${name}** has no text in it.`
  const length = lineCount === null ? '' : ` (${plural(lineCount, 'line')})`
  return `**${name}**${length} begins:\n\n${lines.map((line) => `> ${code(line)}`).join('\n>\n')}`
}

const MAX_HITS_SHOWN = 8

function search(task: Task): ScriptReply {
  const term = searchTermOf(task.text) ?? ''
  const searched = task.done.find(({ name }) => name === 'search_files')
  if (searched === undefined) return act(`I will search your files for ${code(term)}.`, [{ name: 'search_files', args: { query: term } }])
  if (!searched.ok) return /no folders/i.test(searched.output) ? say(NO_FOLDER) : say(couldNot(`search for ${code(term)}`, searched))

  const { count, files, hits } = readMatches(searched.output)
  if (count === 0) return say(`I searched the files of this agent, and none of them contains ${code(term)}.\n\n---\n\n${howItWent(task)}`)
  const rows = hits.slice(0, MAX_HITS_SHOWN).map(({ place, line }) => `- **${code(place)}**: ${code(cutText(line, 160))}`)
  const rest = count > rows.length ? [`- …and ${count - rows.length} more`] : []
  return say(
    `I found ${code(term)} in ${plural(count, 'line')} of ${plural(files, 'file')}:\n\n${[...rows, ...rest].join('\n')}\n\n---\n\n${howItWent(task)}`,
  )
}

/** Harmless and available everywhere; most agents have to ask before running code. */
const COMMAND = process.platform === 'win32' ? ['hostname'] : ['ls', '-l']

function runAskingFirst(task: Task): ScriptReply {
  const list = task.done.find(({ name }) => name === 'list_files')
  if (list === undefined) return act('I will look up which folder I may work in.', [{ name: 'list_files', args: {} }])
  const folder = list.ok ? /^(.+?): (?:empty|\d)/.exec(list.output)?.[1] : undefined
  if (folder === undefined) return say(NO_FOLDER)
  const run = task.done.find(({ name }) => name === 'run_command')
  if (run === undefined) {
    const why = `I want to run ${code(COMMAND.join(' '))} in your folder, which shows what is in it and changes nothing. Unless a rule of yours allows it, this agent has to ask you first, and nothing runs before you answer.`
    return act(why, [{ name: 'run_command', args: { command: COMMAND, folder } }])
  }
  const lines = run.output.split('\n').slice(0, MAX_LINES_SHOWN)
  const shown = lines.map((line) => `> ${code(cutText(line, 160))}`).join('\n>\n')
  const outcome = run.ok ? 'It ran. Its output:' : 'It did not run, or it failed. The result says:'
  return say(`${outcome}\n\n${shown}\n\n---\n\n${howItWent(task)}`)
}

const MAX_LINES_SHOWN = 14

function howItWent(task: Task): string {
  return `*I am the built-in demo model. This job made ${plural(task.done.length, 'real tool call')}; you find each one in its steps. To have your files understood and not only shown, add a model in **Models & keys**.*`
}

function couldNot(what: string, { name, output }: Call): string {
  return `I could not ${what}. The tool ${code(name)} returned: ${oneLine(output)}`
}

function oneLine(output: string): string {
  return code(cutText(output.replace(/\s+/g, ' ').trim() || 'nothing', 240))
}

function say(text: string): ScriptReply {
  return { parts: [{ type: 'text', text }] }
}

function act(text: string, calls: { name: string; args: unknown }[]): ScriptReply {
  return { parts: [{ type: 'text', text }, ...calls.map((call) => ({ type: 'tool_call' as const, ...call }))] }
}

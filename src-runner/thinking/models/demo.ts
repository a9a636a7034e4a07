import type { Clock } from '../../kit/clock.ts'
import { baseName, code, describeKinds, joinWords, pickReadable, readExcerpt, readListing, shorten } from './demo-reading.ts'
import type { ModelAdapter, ModelRequest, ToolDescription } from './model.ts'
import { createScriptedModel, currentJob, type Script, type ScriptReply } from './scripted.ts'

/** A pace at which a person reads along. */
const READING_PACE_MS = 22

const DEMO_LISTED = { model: 'demo', label: 'Demo (built in, offline)', contextTokens: null }

/**
 * The model that is always there: no account, no network, no cost. It follows rules instead of thinking and says so,
 * but the job it does is a real one: it calls the agent's tools and reports what they really answered.
 */
export function createDemoModel(deps: { clock: Clock; wordMs?: number }): ModelAdapter {
  return createScriptedModel(demoScript, { clock: deps.clock, wordMs: deps.wordMs ?? READING_PACE_MS, models: [DEMO_LISTED] })
}

/** Decides from the request alone: the same transcript always gets the same reply. */
export const demoScript: Script = (request) => {
  const task = readTask(request)
  switch (task.kind) {
    case 'files':
      return task.tools.list === null ? say(NO_FOLDER) : lookAtFiles(task, task.tools.list)
    case 'search':
      return task.tools.search === null
        ? task.tools.list === null
          ? say(NO_FOLDER)
          : lookAtFiles(task, task.tools.list)
        : search(task, task.tools.search)
    case 'greeting':
      return say(`Hello! I am the demo model that is built into Deckhand. ${whatNext(task)}`)
    case 'about':
      return say(`${ABOUT}\n\n${whatNext(task)}`)
    case 'thanks':
      return say(`You are welcome. ${whatNext(task)}`)
    case 'other':
      return say(
        `I am the built-in demo model, so I cannot really think about that: I follow a script and work without an account or a network.\n\n${whatNext(task)}\n\nFor real answers, add a model in **Models & keys** (a key of Anthropic, OpenAI or Google, or Ollama on this machine) and choose it for this agent.`,
      )
  }
}

const ABOUT = `I am the **demo model** that is built into Deckhand. I run on this machine, offline, and cost nothing. I am not an intelligence: I follow a script. What I show is real all the same: the tools I call, the approvals I need and every step of the job are recorded exactly as they are with a real model.`

const NO_FOLDER = `I would like to look at your files, but this agent has no folder yet.\n\n1. Open the agent’s settings.\n2. Add a folder under **Folders**. The agent sees that folder and nothing else.\n3. Send me the same message again.\n\nI am the built-in demo model, and reading a folder is the job I do best.`

type Call = { name: string; args: Record<string, unknown>; ok: boolean; output: string }

type Task = {
  kind: 'files' | 'search' | 'greeting' | 'about' | 'thanks' | 'other'
  text: string
  /** Asked to leave the findings in a file. */
  wantsFile: boolean
  tools: { list: ToolDescription | null; read: ToolDescription | null; search: ToolDescription | null; write: ToolDescription | null }
  /** What this job has already done, in order. */
  done: Call[]
}

function readTask(request: ModelRequest): Task {
  const text = request.messages.findLast((message) => message.role === 'user')?.text ?? ''
  const tool = (name: string) => request.tools.find((candidate) => candidate.name === name) ?? null
  const calls = new Map<string, { name: string; args: unknown }>()
  const done: Call[] = []
  for (const message of currentJob(request.messages)) {
    if (message.role === 'assistant') for (const call of message.toolCalls) calls.set(call.callId, call)
    if (message.role === 'tool') {
      const args = calls.get(message.callId)?.args
      done.push({ name: message.name, args: isRecord(args) ? args : {}, ok: message.ok, output: message.output })
    }
  }
  return {
    kind: kindOf(text),
    text,
    wantsFile:
      /\b(write|save|store|put)\b.{0,60}\b(file|note|\w+\.(md|txt))\b|\b(create|make)\b.{0,20}\b(a|new)\b.{0,20}\b(file|note)\b/i.test(
        text,
      ),
    tools: { list: tool('list_files'), read: tool('read_file'), search: tool('search_files'), write: tool('write_file') },
    done,
  }
}

const FILES = /\b(files?|folders?|director(y|ies)|documents?|downloads?|desktop|notes?|papers?|readme|\w+\.(txt|md|csv|pdf|json))\b/i
const SEARCH =
  /\b(search|find|look (up|for)|grep|where (is|are|do|does)|which (files?|documents?|notes?)|contain(s|ing)?|mention(s|ed|ing)?)\b/i

function kindOf(text: string): Task['kind'] {
  if (SEARCH.test(text) && searchTermOf(text) !== null) return 'search'
  if (FILES.test(text)) return 'files'
  const short = text.trim().split(/\s+/).length <= 6
  if (
    /\b(who|what) are you\b|\bwhat (can|do) you do\b|\bhow do you work\b|\bare you (an? )?(ai|real|human|bot|demo)\b|^\s*help\b/i.test(text)
  )
    return 'about'
  if (
    short &&
    /^\W*(hi|hello|hey|hiya|howdy|greetings|good (morning|afternoon|evening|day)|hallo|moin|servus|hola|bonjour|ciao|test(ing)?)\b/i.test(
      text,
    )
  )
    return 'greeting'
  if (short && /\b(thanks|thank you|thx|great|cool|nice)\b/i.test(text)) return 'thanks'
  return 'other'
}

/** Text in quotes, else the words after "for", "mentions" and the like. */
function searchTermOf(text: string): string | null {
  const quoted = /["“„«‘']([^"“”„«»’']{1,100})["”»’']/.exec(text)
  if (quoted !== null) return quoted[1]!.trim() || null
  const after =
    /\b(?:search(?: for)?|look (?:up|for)|find|grep|mentions?|mentioning|mentioned|contains?|containing|about)\s+(.{1,100}?)(?=\s+(?:in|inside|within|under|on)\s+(?:my|the|this|these|all|your)\b|[.?!,\n]|$)/i.exec(
      text,
    )
  if (after === null) return null
  const words = after[1]!
    .replace(
      /^(?:(?:all|every|any|the|my|a|an|files?|documents?|notes?|folders?|everything|lines?|places?|that|which|with|about|for|where|contain(?:s|ing)?|mention(?:s|ing)?|words?|text)\s+)+/i,
      '',
    )
    .trim()
  return words === '' || /^(files?|documents?|notes?|folders?|it|them|everything|something)$/i.test(words) ? null : words
}

function whatNext(task: Task): string {
  const { list, search: find } = task.tools
  if (list === null)
    return `Give this agent a folder (agent settings, **Folders**) and ask me: *“Look at the files in my folder and tell me what is in them.”*`
  const more = find === null ? '' : ` or *“Search my files for invoice.”*`
  return `Try one of these: *“Look at the files in my folder and tell me what is in them”*${more}`
}

const READ_AT_MOST = 3
const OPEN_FOLDERS_AT_MOST = 2

function lookAtFiles(task: Task, list: ToolDescription): ScriptReply {
  const lists = task.done.filter((call) => call.name === 'list_files')
  if (lists.length === 0)
    return act('I will start by looking at what is in your folder.', [{ name: 'list_files', args: argsFor(list, {}) }])

  const failed = lists.find((call) => !call.ok)
  const found = readListings(lists)
  if (failed !== undefined && found.files.length === 0) return say(couldNot('list the folder', failed))

  const opened = lists.length - 1
  const unopened = found.folders.filter((folder) => !lists.some((call) => Object.values(call.args).includes(folder)))
  if (found.files.length === 0 && unopened.length > 0 && opened < OPEN_FOLDERS_AT_MOST) {
    const folder = unopened[0]!
    return act(`There are only folders here. I will open ${code(folder)}.`, [{ name: 'list_files', args: argsFor(list, { path: folder }) }])
  }
  if (found.files.length === 0) {
    return say(
      `I looked, and the folder is empty${found.folders.length > 0 ? ` except for ${plural(found.folders.length, 'folder')}` : ''}. Put a few files into it (notes, a table, a read-me) and send me the same message again.`,
    )
  }

  const reads = task.done.filter((call) => call.name === 'read_file')
  const picks = task.tools.read === null ? [] : pickReadable(found.files, READ_AT_MOST)
  if (reads.length === 0 && picks.length > 0) {
    return act(
      `I see ${plural(found.files.length, 'file')}. I will read the beginning of ${joinWords(picks.map((pick) => code(baseName(pick))))}.`,
      picks.map((path) => ({ name: 'read_file', args: argsFor(task.tools.read!, { path }) })),
    )
  }

  const summary = summarize(found, reads)
  const write = task.done.find((call) => call.name === 'write_file')
  if (task.wantsFile && task.tools.write !== null && write === undefined) {
    const path = besideOf(found.files[0]!, fileNameIn(task.text) ?? 'deckhand-summary.md')
    return act(`I have what I need. I will write it down in ${code(baseName(path))}.`, [
      { name: 'write_file', args: argsFor(task.tools.write, { path, content: `${summary}\n` }) },
    ])
  }
  const written =
    write === undefined
      ? ''
      : write.ok
        ? `I wrote this summary into ${code(pathOf(write))}.\n\n`
        : `${couldNot('write the file', write)}\n\n`
  return say(`${written}${summary}\n\n---\n\n${howItWent(task)}`)
}

function search(task: Task, tool: ToolDescription): ScriptReply {
  const term = searchTermOf(task.text) ?? ''
  const searched = task.done.find((call) => call.name === 'search_files')
  if (searched === undefined)
    return act(`I will search your files for “${term}”.`, [{ name: 'search_files', args: argsFor(tool, { query: term }) }])
  if (!searched.ok) return say(couldNot(`search for “${term}”`, searched))

  const needle = term.toLowerCase()
  const lines = searched.output
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const hits = lines.filter((line) => line.toLowerCase().includes(needle) && !/^(no |nothing|0 )/i.test(line))
  if (hits.length === 0) return say(`I searched all files of this agent, and none of them contains “${term}”.\n\n${howItWent(task)}`)
  const shown = hits.slice(0, 8).map((line) => `- ${code(shorten(line, 180))}`)
  const rest = hits.length > shown.length ? `\n\n…and ${hits.length - shown.length} more.` : ''
  return say(`I found “${term}” in ${plural(hits.length, 'place')}:\n\n${shown.join('\n')}${rest}\n\n---\n\n${howItWent(task)}`)
}

function summarize(found: { files: string[]; folders: string[] }, reads: Call[]): string {
  const names = found.files.slice(0, 12).map((file) => code(baseName(file)))
  const rest = found.files.length > names.length ? ` and ${found.files.length - names.length} more` : ''
  const folders = found.folders.length === 0 ? '' : ` and ${plural(found.folders.length, 'folder')}`
  const sections = [
    `Your folder has **${plural(found.files.length, 'file')}**${folders}: ${describeKinds(found.files)}.`,
    rest === '' ? joinWords(names) : `${names.join(', ')}${rest}`,
  ]
  for (const read of reads) {
    const name = `**${baseName(pathOf(read))}**`
    if (!read.ok) {
      sections.push(`${name} could not be read: ${firstSentence(read.output)}`)
      continue
    }
    const { lines, lineCount } = readExcerpt(read.output, 3)
    sections.push(
      lineCount === 0
        ? `${name} is empty.`
        : `${name} (${plural(lineCount, 'line')} with text) begins:\n\n${lines.map((line) => `> ${line}`).join('\n>\n')}`,
    )
  }
  return sections.join('\n\n')
}

function howItWent(task: Task): string {
  return `*I am the built-in demo model: this job used ${plural(task.done.length, 'real tool call')}, and you can see each one in its steps. To have your files understood and not only read, add a model in **Models & keys**.*`
}

function couldNot(what: string, call: Call): string {
  return `I could not ${what}. The tool ${code(call.name)} answered: ${firstSentence(call.output)}`
}

function readListings(lists: Call[]): { files: string[]; folders: string[] } {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const call of lists) {
    if (!call.ok) continue
    const inside = readListing(call.output)
    for (const file of inside.files) files.add(file)
    for (const folder of inside.folders) folders.add(folder)
  }
  return { files: [...files], folders: [...folders] }
}

const PATH_NAMES = ['path', 'file', 'file_path', 'folder', 'directory', 'dir']
const QUERY_NAMES = ['query', 'text', 'pattern', 'term', 'needle']
const CONTENT_NAMES = ['content', 'contents', 'text']

/** Arguments by the names that the tool itself gives them; only what is asked for. */
function argsFor(tool: ToolDescription, given: { path?: string; query?: string; content?: string }): Record<string, unknown> {
  const properties = isRecord(tool.parameters['properties']) ? tool.parameters['properties'] : {}
  const required = Array.isArray(tool.parameters['required']) ? (tool.parameters['required'] as unknown[]) : []
  const args: Record<string, unknown> = {}
  const put = (names: string[], value: string | undefined, fallback?: string) => {
    const name = names.find((candidate) => candidate in properties && !(candidate in args))
    if (name === undefined) return
    if (value !== undefined) args[name] = value
    else if (fallback !== undefined && required.includes(name)) args[name] = fallback
  }
  put(QUERY_NAMES, given.query)
  put(CONTENT_NAMES, given.content)
  put(PATH_NAMES, given.path, '.')
  return args
}

function pathOf(call: Call): string {
  const path = PATH_NAMES.map((name) => call.args[name]).find((value) => typeof value === 'string')
  return typeof path === 'string' ? path : 'the file'
}

function fileNameIn(text: string): string | null {
  return /\b([\w-]{1,60}\.(?:md|txt))\b/i.exec(text)?.[1] ?? null
}

function besideOf(file: string, name: string): string {
  const folder = file.slice(0, file.length - baseName(file).length)
  return folder.startsWith('/') || /^[A-Za-z]:/.test(folder) ? folder + name : name
}

function firstSentence(output: string): string {
  return shorten(output.replace(/\s+/g, ' ').trim() || 'nothing', 240)
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function say(text: string): ScriptReply {
  return { parts: [{ type: 'text', text }] }
}

function act(text: string, calls: { name: string; args: unknown }[]): ScriptReply {
  return { parts: [{ type: 'text', text }, ...calls.map((call) => ({ type: 'tool_call' as const, ...call }))] }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import type { CallFacts } from '../../contract/rules.ts'
import { isShell } from '../../lib/shells.ts'

/** Parts of this installation that no call may touch. */
export type GuardrailPlace = {
  closedFolders: readonly string[]
  /** Ports of this machine that Deckhand answers on. */
  ownPorts: readonly number[]
}

/**
 * Why a call is impossible for everybody and under every rule, or null. It reads the facts that the tool reported. It is a
 * second line of defence behind the sandbox, not a replacement.
 */
export function guardrailObjection(facts: CallFacts, place: GuardrailPlace): 'own_folder' | 'own_api' | 'wrecks_system' | null {
  if (touchesOwnFolder(facts, place)) return 'own_folder'
  if (reachesOwnApi(facts, place)) return 'own_api'
  if (facts.runsCode && commandsOf(facts).some(wrecksMachine)) return 'wrecks_system'
  return null
}

function touchesOwnFolder(facts: CallFacts, { closedFolders }: GuardrailPlace): boolean {
  return closedFolders.some((closed) => {
    const own = folderText(closed)
    // Moving or deleting a folder affects its contents. A program is only started in its folder.
    const affectsContents = facts.effect !== 'read' && (!facts.runsCode || facts.runsLater === true)
    const touched = facts.paths.map(folderText).some((path) => path.startsWith(own) || (affectsContents && own.startsWith(path)))
    // Also within a command line or an address: `file:///…`.
    const hasText = facts.runsCode || facts.leavesMachine
    return touched || (hasText && folderText(programText(facts)).includes(own.slice(0, -1)))
  })
}

/** Words are matched from their beginning and numbers have a limit, because a long word would otherwise take its square. */
const OWN_NAME = String.raw`(?:localhost|(?<![\w-])[\w-]+\.localhost|127(?:\.\d+){1,3}|0(?:\.0){0,3}|0x7f\w{0,64}|2130706433|\[[0-9a-f:.]*\])`
/** Routes by which a person decides. On this machine they belong to Deckhand, whatever the port. */
const OWN_ROUTE = new RegExp(`${OWN_NAME}(?::\\d+)?/+api/+(?:approve|approvals|rules|settings|worker)\\b`, 'i')

function reachesOwnApi(facts: CallFacts, { ownPorts }: GuardrailPlace): boolean {
  if (!facts.leavesMachine && !facts.runsCode) return false
  const text = programText(facts)
  if (OWN_ROUTE.test(text)) return true
  return ownPorts.some((port) => new RegExp(`${OWN_NAME}[:/\\s]+${port}\\b`, 'i').test(text))
}

function programText({ argv, subject }: CallFacts): string {
  return argv === undefined ? subject : argv.join(' ')
}

/** Programs that only start another program. */
const STARTERS = new Set('sudo doas env nice nohup time exec command busybox toybox setsid ionice timeout xargs stdbuf'.split(' '))
/** What a starter may have before the program: options, variables, numbers, durations and the placeholder of xargs. */
const OF_STARTER = /^(?:-|\w+=|[\d.]+[smhd]?$|\{\}$)/
const DEEPEST = 4

/** The commands that a call runs, each as its words, including those inside `sh -c "…"` and behind `sudo`. */
function commandsOf({ argv, subject }: CallFacts): string[][] {
  return unwrap(argv ?? wordsOf(subject), 0)
}

function unwrap(words: readonly string[], depth: number): string[][] {
  const last = words.length - 1
  let first = 0
  let starter: string | null = null
  while (first < last && (STARTERS.has(programOf(words[first]!)) || /^\w+=/.test(words[first]!))) {
    starter = words[first]!
    first++
    while (first < last && OF_STARTER.test(words[first]!)) first++
  }
  const rest = words.slice(first)
  if (rest.length === 0) return []
  if (depth >= DEEPEST) return [rest]
  // As in `sudo -u root rm …`: what follows an option of the starter is its value or the program.
  const mayBeValue = starter !== null && rest.length > 1 && words[first - 1]!.startsWith('-')
  return [...inShell(rest, depth), ...(mayBeValue ? unwrap([starter!, ...rest.slice(1)], depth + 1) : [])]
}

function inShell(rest: readonly string[], depth: number): string[][] {
  if (!isShell(programOf(rest[0]!))) return [[...rest]]
  const scripts = rest.slice(1).filter((word) => !/^[-/]\w{1,12}$/.test(word))
  return scripts.flatMap((script) =>
    script
      .split(/[;\n&|]+|\$\(|`/)
      .map(wordsOf)
      .filter((line) => line.length > 0)
      .flatMap((line) => unwrap(line, depth + 1)),
  )
}

function wordsOf(line: string): string[] {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'))
}

function programOf(word: string): string {
  return word
    .replaceAll('\\', '/')
    .split('/')
    .at(-1)!
    .toLowerCase()
    .replace(/\.(exe|com|cmd|bat)$/, '')
}

/** Roots of the system and of home folders, with or without `*` and slashes behind them. */
const ROOT = /^(?:\/|~|\$HOME|\$\{HOME\}|%USERPROFILE%|%SYSTEMDRIVE%|[a-z]:)\/*(?:\*|\.\/?\*?)?$/i
const SYSTEM_FOLDER =
  /^\/+(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|System|Library|Users|Applications|private)\/*\*?$/i
const WINDOWS_FOLDER = /^([a-z]:|%SYSTEMDRIVE%)\/+(windows|users|program files( \(x86\))?|programdata)?\/*\*?$/i
const DEVICE = /^(of=)?(\/dev\/(sd|hd|vd|nvme|mmcblk|disk|rdisk|mapper|dm-)|\\\\.\\physicaldrive|\/\/\.\/physicaldrive)/i

function isRoot(word: string): boolean {
  const path = word.replaceAll('\\', '/').replace(/\/\.(?=\/|$)/g, '')
  return ROOT.test(path) || SYSTEM_FOLDER.test(path) || WINDOWS_FOLDER.test(path)
}

function wrecksMachine(words: readonly string[]): boolean {
  const [program = '', ...args] = words
  const name = programOf(program)
  const targets = args.filter((word) => !word.startsWith('-'))
  const isRecursive = args.some((word) => (/^-[a-z]+$/i.test(word) && /r/i.test(word)) || /^(--recursive|\/s)$/i.test(word))
  switch (name) {
    case 'rm':
    case 'rmdir':
    case 'rd':
    case 'del':
    case 'erase':
    case 'remove-item':
    case 'chmod':
    case 'chown':
    case 'icacls':
      return isRecursive && (targets.some(isRoot) || args.includes('--no-preserve-root'))
    case 'find':
      return targets.some(isRoot) && args.some((word) => word === '-delete' || /^rm$/.test(word))
    case 'mv':
      return targets.slice(0, -1).some(isRoot)
    case 'dd':
    case 'shred':
    case 'wipefs':
    case 'tee':
    case 'cp':
    case 'blkdiscard':
      return targets.some((word) => DEVICE.test(word) && (name !== 'cp' || word === targets.at(-1)))
    case 'fdisk':
    case 'sfdisk':
    case 'parted':
    case 'diskpart':
    case 'bcdedit':
    case 'format':
    case 'cipher':
      return args.some((word) => DEVICE.test(word) || /^[a-z]:$/i.test(word) || /^\/w:/i.test(word)) || name === 'diskpart'
    // All processes of this account. `kill -1 4711` is different: it asks one process to reload.
    case 'kill':
      return args.length > 1 && args.at(-1) === '-1'
    case 'killall5':
      return true
    case 'diskutil':
      return args.some((word) => /^(erase|partition|secureErase|zeroDisk)/i.test(word))
    default:
      return (
        /^mkfs(\.|$)|^mkswap$/.test(name) ||
        words.join(' ').includes(':(){') ||
        words.some((w, i) => w === '>' && DEVICE.test(words[i + 1] ?? ''))
      )
  }
}

function folderText(path: string): string {
  const slashed = (/^([a-z]:|\\\\)/i.test(path) ? path.replaceAll('\\', '/') : path).normalize('NFC').toLowerCase()
  return slashed.endsWith('/') ? slashed : `${slashed}/`
}

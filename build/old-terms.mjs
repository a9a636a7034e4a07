// Refuses words that Deckhand used before: one word has one meaning here. Parts of names count, so `clockworkTick` is found.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { begin, root } from './run.mjs'
import { listSourceFiles } from './source-files.mjs'

/** Old word → what to write, and the files that may use the word in another sense. */
const OLD_TERMS = new Map(
  Object.entries({
    anew: ['again'],
    believed: ['trusted'],
    bite: ['batch'],
    box: ['sandbox', /^src-(renderer|main)\/|^e2e\/|^build\/icons|tunnel-programs|address-guard/],
    boxed: ['sandboxed'],
    brake: ['pause all'],
    clockwork: ['scheduler'],
    door: ['what it is: a proxy, a folder, an option'],
    doors: ['what they are: shims, proxies, options'],
    ending: ['outcome, or extension of a file', /portable-path|locales\//],
    endings: ['outcomes, or extensions of files', /^src-runner\/platform\/db\//],
    kit: ['lib', /^build\/|^src-runner\/platform\/db\/|^package/],
    lane: ['queue'],
    lanes: ['queues'],
    ledger: ['run history, or reservations of a budget'],
    ledgers: ['run history'],
    purse: ['spending limit'],
    saying: ['a matcher of messages, or the plain verb'],
    stretch: ['range', /^src-renderer\//],
    unboxed: ['unsandboxed'],
    upkeep: ['maintenance'],
    voices: ['decision trace'],
  }),
)

const READ = /\.(tsx?|mjs|md|html|sh|yml)$|^resources\/locales\/en\.json$/
const WORDS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Lists the old terms in a text: `file:line: "brake" is now: pause all`. */
export function findOldTerms(file, text) {
  if (file.startsWith('build/old-terms')) return []
  return text.split('\n').flatMap((line, at) =>
    (line.match(WORDS) ?? [])
      .map((word) => [word, ...(OLD_TERMS.get(word.toLowerCase()) ?? [])])
      .filter(([, instead, allowed]) => instead !== undefined && !allowed?.test(file))
      .map(([word, instead]) => `${file}:${at + 1}: "${word}" is now: ${instead}`),
  )
}

async function findAll() {
  const files = (await listSourceFiles()).filter((file) => READ.test(file))
  const found = files.flatMap((file) => findOldTerms(file, readFileSync(join(root, file), 'utf8')))
  process.stdout.write(found.map((line) => `${line}\n`).join(''))
  process.exitCode = found.length > 0 ? 1 : 0
}

if (import.meta.filename === process.argv[1]) await begin(findAll)

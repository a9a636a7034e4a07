// Lints everything. Rules that need types take most of the time. So they check a file again only if it, something that it imports, or
// what applies to all files has changed since it last passed.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { begin, capture, root } from './run.mjs'
import { listSourceFiles } from './source-files.mjs'

const CONFIG = 'build/oxlint.json'
const PASSED = join(root, 'node_modules/.cache/lint.json')
const SOURCES = ['src-main', 'src-renderer', 'src-runner', 'resources', 'build', 'e2e', 'electron.vite.config.ts']
/** Windows takes 8,191 characters in one command. */
const MAX_NAMED = process.platform === 'win32' ? 80 : Infinity
const LINTED = /^(src-main|src-renderer|src-runner|resources|build|e2e)\/.*\.[cm]?[jt]sx?$|^electron\.vite\.config\.ts$/
/** What may change the findings in every file. */
const FOR_ALL = /\.d\.ts$|(^|\/)tsconfig[\w.]*\.json$|^package-lock\.json$|^build\/(oxlint\.json|lint\.mjs)$/
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*(['"])(\.{1,2}\/[^'"]+)\1/g

const hash = (text) => createHash('sha256').update(text).digest('base64')

/** For each linted file, a hash of everything that decides which findings it has. `texts`: the text of each file by its path. */
export function hashInputs(texts) {
  const files = Object.keys(texts).sort()
  const forAll = hash(files.filter((file) => FOR_ALL.test(file)).map((file) => `${file} ${hash(texts[file])}`).join('\n')) // prettier-ignore
  const imports = (file) =>
    [...texts[file].matchAll(IMPORT)].map(([, , path]) => join(dirname(file), path).replaceAll('\\', '/')).filter((path) => path in texts)
  const nodes = new Map(files.map((file) => [file, { own: hash(texts[file]), imports: imports(file) }]))
  const hashOf = (file) => {
    const reached = new Set([file])
    for (const one of reached) for (const next of nodes.get(one).imports) reached.add(next)
    return hash([forAll, ...files.filter((one) => reached.has(one)).map((one) => `${one} ${nodes.get(one).own}`)].join('\n'))
  }
  return Object.fromEntries(files.filter((file) => LINTED.test(file)).map((file) => [file, hashOf(file)]))
}

async function readTexts() {
  const files = (await listSourceFiles()).filter((file) => LINTED.test(file) || FOR_ALL.test(file) || /^resources\/.*\.json$/.test(file))
  return Object.fromEntries(files.flatMap((file) => (textOf(file) === null ? [] : [[file, textOf(file)]])))
}

/** null: it was deleted and is still in the index. */
function textOf(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    return null
  }
}

function readPassed() {
  try {
    return JSON.parse(readFileSync(PASSED, 'utf8'))
  } catch {
    return {}
  }
}

async function lint() {
  const inputs = hashInputs(await readTexts())
  const passed = readPassed()
  const changed = Object.keys(inputs).filter((file) => passed[file] !== inputs[file])
  const isWhole = changed.length > MAX_NAMED
  const oxlint = (...args) => capture('oxlint', ['-c', CONFIG, ...args])
  const runs = await Promise.all([
    changed.length === 0 ? null : oxlint('--type-aware', ...(isWhole ? SOURCES : changed)),
    isWhole ? null : oxlint(...SOURCES),
  ])
  const output = runs.map((run) => (run === null || run.code === 0 ? '' : `${run.output}\n`)).join('')
  const failed = runs.filter((run) => run !== null && run.code !== 0)
  mkdirSync(dirname(PASSED), { recursive: true })
  // A failed run that names no file says nothing about any.
  const isNamed = failed.every((run) => Object.keys(inputs).some((file) => run.output.includes(file)))
  const clean = Object.entries(inputs).filter(([file]) => !output.includes(file))
  if (isNamed) writeFileSync(PASSED, JSON.stringify(Object.fromEntries(clean)))
  process.stdout.write(output)
  process.exitCode = failed.length > 0 ? 1 : 0
}

if (import.meta.filename === process.argv[1]) await begin(lint)

import { cutText } from '../../lib/text.ts'

// How the demo model reads the results of the file tools.

export type ListedFile = { path: string; size: number | null; changed: string | null }
/** Rows are `kind TAB size TAB changed TAB path`. The heading of each folder has the real number of files. */
export function readListing(output: string) {
  const files: ListedFile[] = []
  const folders: string[] = []
  let total = 0
  for (const line of output.split('\n')) {
    const [kind, size, changed, path] = line.split('\t')
    if (path === undefined) {
      total += Number(/^.+: .*?\b(\d+) files?\b/.exec(line)?.[1] ?? 0)
    } else if (kind === 'file') {
      files.push({
        path,
        size: /^\d+$/.test(size!) ? Number(size) : null,
        changed: /^\d{4}-/.test(changed!) ? changed!.slice(0, 10) : null,
      })
    } else if (kind === 'folder') {
      folders.push(path.replace(/\/$/, ''))
    }
  }
  return { files, folders, total: Math.max(total, files.length) }
}

const TEXT = new Set(
  'txt md markdown rst csv tsv log json yaml yml toml ini html xml tex eml js ts py rb go rs java c sh sql css'.split(' '),
)

/** First the files that the task names, then read-me files and notes, then the rest. */
export function pickReadable(files: readonly ListedFile[], task: string, count: number): string[] {
  const words = task.toLowerCase()
  const named = (path: string) => words.includes(baseName(path).toLowerCase())
  const rank = (path: string) => {
    if (named(path)) return 0
    if (/^(readme|read me)/i.test(baseName(path))) return 1
    const at = ['md', 'txt', 'markdown', 'rst', 'csv'].indexOf(extensionOf(path))
    return at === -1 ? 9 : at + 2
  }
  return files
    .filter(({ path, size }) => (TEXT.has(extensionOf(path)) || named(path)) && !baseName(path).startsWith('.') && size !== 0)
    .map(({ path }) => path)
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .slice(0, count)
}

/** The first lines that are not empty. The very first one is the tool's own: `path (facts)`. */
export function readExcerpt(output: string, count: number) {
  const [heading = '', ...rest] = output.split('\n')
  const total = /lines \d+-\d+ of (\d+)\)$/.exec(heading)?.[1]
  const lines = rest
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^([-=*_#~`|]|\s)+$/.test(line) && !/^\[.*\]$/.test(line))
    .map((line) => cutText(line.replace(/^#+\s*/, ''), 160))
  return { lines: lines.slice(0, count), lineCount: total === undefined ? null : Number(total) }
}

/** `3 matches in 2 files (…)`, then `path:line: text`. */
export function readMatches(output: string) {
  const [heading = '', ...rest] = output.split('\n')
  const counts = /^(\d+) match(?:es)? in (\d+) files?/.exec(heading)
  const hits = rest
    .map((line) => /^(.+?:\d+): (.*)$/.exec(line))
    .filter((hit) => hit !== null)
    .map((hit) => ({ place: hit[1]!, line: hit[2]!.trim() }))
  return { count: Number(counts?.[1] ?? 0), files: Number(counts?.[2] ?? 0), hits }
}

/** Shows text of a file as code, so that it makes no headings, links or pictures. */
export function code(text: string): string {
  return `\`${text.replace(/[`\r\n]/g, ' ').trim() || ' '}\``
}

export function baseName(path: string): string {
  return path.split('/').at(-1) ?? path
}

function extensionOf(path: string): string {
  return /\.([A-Za-z0-9]{1,10})$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

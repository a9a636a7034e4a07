/** What the demo model makes of the text that file tools answer with. It reads lines, as a person would. */

export type Listing = { files: string[]; folders: string[] }

/**
 * File and folder names in a listing. Lines may carry a bullet, a size, a date or a kind after the name; a folder ends
 * with a slash. Lines that name nothing (headings, counts, "cut here") are passed over.
 */
export function readListing(output: string): Listing {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const raw of output.split(/\r?\n/)) {
    const line = raw.replace(/^\s*(?:[-*•]\s+|\d+[.)]\s+)?/, '').trimEnd()
    if (line === '' || line.endsWith(':') || /^[[(…]/.test(line)) continue
    const folder = /^(.*?[^/\\\s])[/\\](?=$|\s{2,}|\t|\s[([—–-])/.exec(line)
    if (folder !== null) {
      folders.add(folder[1]!)
      continue
    }
    const file = /^(.+?\.[A-Za-z0-9]{1,10})(?=$|\s{2,}|\t|,\s|\s[([—–-]|\s+\d)/.exec(line)
    if (file !== null && !/[.!?:]\s/.test(file[1]!)) files.add(file[1]!)
  }
  return { files: [...files], folders: [...folders] }
}

const KINDS: [kind: [one: string, many: string], extensions: string][] = [
  [['text document', 'text documents'], 'txt md markdown rst rtf doc docx odt pages tex log eml'],
  [['spreadsheet or table', 'spreadsheets and tables'], 'csv tsv xls xlsx ods numbers'],
  [['PDF', 'PDFs'], 'pdf'],
  [['picture', 'pictures'], 'png jpg jpeg gif webp svg heic bmp tif tiff ico avif'],
  [['sound', 'sounds'], 'mp3 wav flac m4a ogg aac opus'],
  [['video', 'videos'], 'mp4 mov mkv avi webm m4v'],
  [['presentation', 'presentations'], 'ppt pptx odp key'],
  [['archive', 'archives'], 'zip tar gz tgz bz2 xz 7z rar dmg iso'],
  [['data or settings file', 'data and settings files'], 'json yaml yml toml xml ini conf env sql db sqlite plist'],
  [['program file', 'program files'], 'js ts jsx tsx py rb go rs java c h cpp cs php sh swift kt html css scss vue lua r'],
]

const TEXT = new Set(
  'txt md markdown rst csv tsv log json yaml yml toml ini html xml tex eml js ts py rb go rs java c sh sql css'.split(' '),
)

/** "7 files: 4 text documents, 2 pictures and 1 PDF". */
export function describeKinds(files: readonly string[]): string {
  const counts = new Map<[string, string], number>()
  const other: [string, string] = ['other file', 'other files']
  for (const file of files) {
    const kind = KINDS.find(([, extensions]) => extensions.split(' ').includes(extensionOf(file)))?.[0] ?? other
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([[one, many], count]) => `${count} ${count === 1 ? one : many}`)
  return joinWords(parts)
}

/** The files worth reading first: plain text, read-me files and notes before data and programs. */
export function pickReadable(files: readonly string[], count: number): string[] {
  const rank = (file: string) => {
    const name = baseName(file).toLowerCase()
    if (/^(readme|read me)/.test(name)) return 0
    const at = ['md', 'txt', 'markdown', 'rst', 'csv'].indexOf(extensionOf(file))
    return at === -1 ? 9 : at + 1
  }
  return files
    .filter((file) => TEXT.has(extensionOf(file)) && !baseName(file).startsWith('.'))
    .toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b, 'en'))
    .slice(0, count)
}

export type Excerpt = { lines: string[]; lineCount: number }

/** The first lines with something in them. Line numbers that a tool put before the text are taken off. */
export function readExcerpt(output: string, count: number): Excerpt {
  const all = output.split(/\r?\n/)
  const numbered = all.filter((line) => /^\s*\d+(\t|[:|→]\s?)/.test(line)).length > all.length / 2
  const lines = all
    .map((line) => (numbered ? line.replace(/^\s*\d+(\t|[:|→]\s?)/, '') : line).trim())
    .filter((line) => line !== '' && !/^([-=*_#~`]|\s)+$/.test(line))
  return { lines: lines.slice(0, count).map((line) => shorten(line.replace(/^#+\s*/, ''), 160)), lineCount: lines.length }
}

export function shorten(text: string, chars: number): string {
  return text.length > chars
    ? `${text
        .slice(0, chars - 1)
        .toWellFormed()
        .trimEnd()}…`
    : text
}

export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

/** A name inside back quotes, whatever characters it has. */
export function code(text: string): string {
  return `\`${text.replace(/[`\r\n]/g, ' ')}\``
}

export function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path
}

function extensionOf(file: string): string {
  return /\.([A-Za-z0-9]{1,10})$/.exec(file)?.[1]?.toLowerCase() ?? ''
}

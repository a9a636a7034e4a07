type Line = { indent: number; text: string }

const MAX_DEPTH = 20
const PAIR = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#&*!|>%@`{}[\],-][^:]*|-[^\s:][^:]*):(?:\s+(\S.*))?$/

/**
 * The part of YAML in which Goose writes the `extensions` of its configuration: maps and lists in blocks, texts with and without
 * quotes. Anything else, such as references, throws SyntaxError. Returns `{ extensions }`, or null if there are none.
 */
export function parseGooseExtensions(text: string): unknown {
  const lines = text.split(/\r?\n/).map((line): Line => ({ indent: line.search(/\S|$/), text: line.trim() }))
  const start = lines.findIndex(({ indent, text: line }) => indent === 0 && /^extensions:\s*(#.*)?$/.test(line))
  if (start === -1) return null
  const length = lines.slice(start + 1).findIndex(({ indent, text: line }) => indent === 0 && line !== '' && !/^[#-]/.test(line))
  return { extensions: readBlock(createReader(lines.slice(start + 1, length === -1 ? undefined : start + 1 + length)), 0, 0) }
}

function createReader(lines: readonly Line[]) {
  let next = 0
  const isEmpty = ({ text }: Line) => text === '' || text.startsWith('#')
  return {
    /** The next line that says something. */
    peek(): Line | undefined {
      while (next < lines.length && isEmpty(lines[next]!)) next++
      return lines[next]
    },
    take: () => void next++,
    /** A text of several lines, which goes on as long as they are further in. */
    takeText(indent: number): string {
      const taken: string[] = []
      while (next < lines.length && (lines[next]!.text === '' || lines[next]!.indent > indent)) taken.push(lines[next++]!.text)
      return taken.join('\n').trimEnd()
    },
    /** Reads the rest of a line as a line of its own. */
    replace(line: Line): void {
      lines = lines.with(next, line)
    },
  }
}

type Reader = ReturnType<typeof createReader>

function readBlock(reader: Reader, indent: number, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new SyntaxError('too deep')
  const first = reader.peek()
  if (first === undefined || first.indent < indent) return null
  return isItem(first) ? readList(reader, first.indent, depth) : readMap(reader, first.indent, depth)
}

const isItem = ({ text }: Line) => text === '-' || text.startsWith('- ')

function readList(reader: Reader, indent: number, depth: number): unknown[] {
  const items: unknown[] = []
  for (let line = reader.peek(); line?.indent === indent && isItem(line); line = reader.peek()) {
    const rest = line.text.slice(1).trimStart()
    if (rest === '') {
      reader.take()
      items.push(readBlock(reader, indent + 1, depth + 1))
    } else if (PAIR.test(rest)) {
      const inner = indent + line.text.length - rest.length
      reader.replace({ indent: inner, text: rest })
      items.push(readMap(reader, inner, depth + 1))
    } else {
      reader.take()
      items.push(readScalar(rest))
    }
  }
  return items
}

function readMap(reader: Reader, indent: number, depth: number): Record<string, unknown> {
  const entries: [string, unknown][] = []
  for (let line = reader.peek(); line !== undefined && line.indent >= indent; line = reader.peek()) {
    const pair = line.indent === indent ? PAIR.exec(line.text) : null
    if (pair === null) throw new SyntaxError('not a map')
    reader.take()
    const [, key, value = ''] = pair
    entries.push([String(readScalar(key!)), readValue(reader, value, indent, depth)])
    const after = reader.peek()
    if (after?.indent === indent && isItem(after)) throw new SyntaxError('a list in a map')
  }
  return Object.fromEntries(entries)
}

function readValue(reader: Reader, value: string, indent: number, depth: number): unknown {
  if (/^[|>][-+]?$/.test(value)) return reader.takeText(indent)
  if (value !== '' && !value.startsWith('#')) return readScalar(value)
  const next = reader.peek()
  if (next === undefined) return null
  // A list may be as far in as its key.
  if (next.indent === indent && isItem(next)) return readList(reader, indent, depth + 1)
  return next.indent > indent ? readBlock(reader, indent + 1, depth + 1) : null
}

/** Tried once for each run of spaces. From each space of it, a long run would take its square. */
const COMMENT = /(?<!\s)\s+#.*$/

function readScalar(text: string): unknown {
  const [, quoted] = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$/.exec(text) ?? []
  if (quoted?.startsWith('"') === true) return JSON.parse(quoted)
  if (quoted !== undefined) return quoted.slice(1, -1).replaceAll("''", "'")
  if (/^[[{]/.test(text)) return JSON.parse(text.replace(COMMENT, ''))
  if (/^["'&*!|>%@`]/.test(text)) throw new SyntaxError('not plain text')
  const plain = text.replace(COMMENT, '')
  if (/^(null|~)$/.test(plain)) return null
  return /^(true|false)$/.test(plain) ? plain === 'true' : plain
}

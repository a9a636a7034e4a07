import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { unzipSync } from 'fflate'

/** Where a secret was found, with what is around it. */
export type Leak = { place: string; secret: string; around: string }

/** Text and bytes by their place. */
export type Places = Record<string, string | Buffer>

/**
 * How a secret can be written down: raw, for JSON and JSON in JSON, for URLs, in hex, in base64 of both alphabets, in UTF-16, and
 * backwards. Base64 of a part of something larger has one of three forms, by where it begins.
 */
export function spellingsOf(secret: string): string[] {
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const text = Buffer.from(`${'x'.repeat(before)}${secret}`).toString('base64')
    const core = text.slice(4, Math.floor(((before + secret.length) * 8) / 24) * 4)
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const hex = Buffer.from(secret).toString('hex')
  const codes = [...secret].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    ...new Set([
      secret,
      json,
      JSON.stringify(json).slice(1, -1),
      encodeURIComponent(secret),
      hex,
      hex.toUpperCase(),
      codes,
      codes.toUpperCase(),
      ...inBase64,
      Buffer.from(secret, 'utf16le').toString('latin1'),
      [...secret].reverse().join(''),
    ]),
  ]
}

export function findLeaks(places: Places, secrets: readonly string[]): Leak[] {
  const spelled = secrets.map((secret) => ({ secret, spellings: spellingsOf(secret) }))
  return Object.entries(places).flatMap(([place, content]) => {
    const text = typeof content === 'string' ? content : content.toString('latin1')
    return spelled.flatMap(({ secret, spellings }) => {
      const found = spellings.find((spelling) => text.includes(spelling))
      if (found === undefined) return []
      const at = text.indexOf(found)
      return [{ place, secret, around: text.slice(Math.max(0, at - 200), at + 60) }]
    })
  })
}

/**
 * Every file below a folder, whole, and besides: each entry of a zip, and each row of a database, whose pages may cut a value
 * in two. `leaveOut`: paths below the folder.
 */
export function readPlaces(folder: string, leaveOut: readonly string[] = []): Places {
  const places: Places = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const name = file.slice(folder.length + 1)
    if (leaveOut.includes(name)) continue
    const bytes = readFileSync(file)
    places[name] = bytes
    if (bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004') {
      for (const [inside, content] of Object.entries(unzipSync(bytes))) places[`${name}/${inside}`] = Buffer.from(content)
    }
    if (bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3') Object.assign(places, readRows(file, name))
  }
  return places
}

function readRows(file: string, name: string): Places {
  const db = new Sqlite(file, { readonly: true })
  try {
    const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").pluck().all()
    return Object.fromEntries(
      tables.map((table) => {
        const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM "${table}"`).all()
        const texts = rows.flatMap((row) =>
          Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value as string | number | null))),
        )
        return [`${name}, table ${table}`, texts.join('\n')]
      }),
    )
  } finally {
    db.close()
  }
}

import { createHmac, randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { McpDraft, McpImport, McpImportApp } from '../contract/mcp-drafts.ts'
import type { McpTransport } from '../contract/mcp.ts'
import type { Message } from '../contract/messages.ts'
import { createMessage } from '../lib/messages.ts'
import { canonicalJson } from '../lib/json-values.ts'
import { draftsOfConfig } from '../domain/mcp/drafts/drafts-of-config.ts'
import { parseGooseExtensions } from '../domain/mcp/drafts/goose-yaml.ts'
import { parseLooseJson } from '../domain/mcp/drafts/loose-json.ts'
import { checkAll } from '../domain/mcp/drafts/read-paste.ts'

export type ImportPlaces = { home: string; platform: NodeJS.Platform }

/** What another program of this machine has, with the values of its servers. */
type Found = { app: McpImportApp; path: string; problem: Message | null } & ReturnType<typeof checkAll>

/** Claude Code keeps more than servers in its file. */
const MAX_BYTES = 5_000_000

/** Ids hold for one start of the runner, so they give nothing away about the values in them. */
const ID_KEY = randomBytes(32)

/**
 * The MCP servers in the configuration files of other programs. The values of variables and headers are left out. Files are only
 * read; one that does not exist is left out.
 */
export async function findMcpImports(places: ImportPlaces, isAdded: (transport: McpTransport) => boolean): Promise<McpImport[]> {
  const found = await readAll(places)
  return found
    .filter(({ servers, skipped, problem }) => servers.length + skipped.length > 0 || problem !== null)
    .map(({ servers, ...file }) => ({
      ...file,
      servers: servers.map((draft) => ({
        ...draft,
        id: idOf(file, draft),
        isAdded: isAdded(draft.transport),
        values: draft.values.map((value) => ({ ...value, value: null })),
      })),
    }))
}

/** The servers with these ids as they are in the files now, with their values. null: one of them is not there any more. */
export async function readChosen(places: ImportPlaces, ids: readonly string[]): Promise<McpDraft[] | null> {
  const found = await readAll(places)
  const byId = new Map(found.flatMap((file) => file.servers.map((draft): [string, McpDraft] => [idOf(file, draft), draft])))
  const chosen = [...new Set(ids)].map((id) => byId.get(id))
  return chosen.every((draft) => draft !== undefined) ? chosen : null
}

function idOf({ app, path }: Pick<Found, 'app' | 'path'>, draft: McpDraft): string {
  return createHmac('sha256', ID_KEY)
    .update(canonicalJson([app, path, draft]))
    .digest('hex')
}

/** Where each program keeps its servers. */
function filesOf({ home, platform }: ImportPlaces): [app: McpImportApp, path: string][] {
  const settings =
    platform === 'darwin'
      ? join(home, 'Library', 'Application Support')
      : platform === 'win32'
        ? join(home, 'AppData', 'Roaming')
        : join(home, '.config')
  const goose = platform === 'win32' ? join(settings, 'Block', 'goose', 'config') : join(home, '.config', 'goose')
  return [
    ['claude_desktop', join(settings, 'Claude', 'claude_desktop_config.json')],
    ['claude_code', join(home, '.claude.json')],
    ['cursor', join(home, '.cursor', 'mcp.json')],
    ['vscode', join(settings, 'Code', 'User', 'mcp.json')],
    ['vscode', join(settings, 'Code', 'User', 'settings.json')],
    ['goose', join(goose, 'config.yaml')],
  ]
}

async function readAll(places: ImportPlaces): Promise<Found[]> {
  const files = await Promise.all(filesOf(places).map(([app, path]) => readConfig(app, path)))
  return files.filter((file) => file !== null)
}

/** null: there is no such file. */
async function readConfig(app: McpImportApp, path: string): Promise<Found | null> {
  const failed = (problem: Message): Found => ({ app, path, servers: [], skipped: [], problem })
  try {
    const text = await readPlainFile(path)
    if (text === null) return null
    if (typeof text !== 'string') return failed(text)
    const config = app === 'goose' ? parseGooseExtensions(text) : parseLooseJson(text)
    return { app, path, ...checkAll(draftsOfConfig(listsOnly(config))), problem: null }
  } catch (error) {
    return failed(createMessage(error instanceof SyntaxError ? 'mcp_import_not_readable' : 'mcp_import_no_access'))
  }
}

/** A settings file with nothing of MCP in it is not a list of servers itself. */
function listsOnly(config: unknown): unknown {
  return { config }
}

/** null: there is no such file. A message: it is not read. Throws errors of the system. */
async function readPlainFile(path: string): Promise<string | Message | null> {
  const before = await lstat(path).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  })
  if (before === null) return null
  if (!before.isFile()) return createMessage('mcp_import_link')
  if (before.size > MAX_BYTES) return createMessage('mcp_import_too_large')
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    if (!isSameFile(before, await handle.stat())) return createMessage('mcp_import_link')
    const buffer = Buffer.alloc(MAX_BYTES + 1)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    return bytesRead > MAX_BYTES ? createMessage('mcp_import_too_large') : buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

function isSameFile(a: Stats, b: Stats): boolean {
  return b.isFile() && a.ino === b.ino && a.dev === b.dev
}

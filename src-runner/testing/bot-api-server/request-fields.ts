import type { IncomingMessage } from 'node:http'

export type UploadedFile = { name: string; bytes: Buffer }

/** The fields of a call, from JSON or from a form with files. JSON values in a form are parsed. */
export async function readFields(
  request: IncomingMessage,
): Promise<{ fields: Record<string, unknown>; uploads: Map<string, UploadedFile> }> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const type = request.headers['content-type'] ?? ''
  const boundary = /boundary=(.+)$/.exec(type)?.[1]
  if (boundary !== undefined) return readForm(body, boundary)
  return { fields: body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Record<string, unknown>), uploads: new Map() }
}

function readForm(body: Buffer, boundary: string): { fields: Record<string, unknown>; uploads: Map<string, UploadedFile> } {
  const fields: Record<string, unknown> = {}
  const uploads = new Map<string, UploadedFile>()
  for (const part of partsOf(body, Buffer.from(`--${boundary}`))) {
    const end = part.indexOf('\r\n\r\n')
    const head = part.subarray(0, end).toString('utf8')
    const content = part.subarray(end + 4)
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? ''
    const file = /filename="?([^"\r\n]*)"?/.exec(head)?.[1]
    if (file === undefined) fields[name] = readValue(content.toString('utf8'))
    else uploads.set(name, { name: file, bytes: content })
  }
  return { fields, uploads }
}

function partsOf(body: Buffer, mark: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let from = body.indexOf(mark); ;) {
    const to = body.indexOf(mark, from + mark.length)
    if (from === -1 || to === -1) return parts
    // From the line break after one mark to the line break before the next.
    parts.push(body.subarray(from + mark.length + 2, to - 2))
    from = to
  }
}

function readValue(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A `curl` command, quoted so that the shell interprets nothing in the payload. */
export function curlCommand(url: string, payload: string): string {
  return `curl -X POST ${quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quote(payload)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

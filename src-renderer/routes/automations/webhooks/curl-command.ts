/** For a terminal: quoted so that nothing in the payload means anything to the shell. */
export function curlCommand(url: string, payload: string): string {
  return `curl -X POST ${quote(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quote(payload)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

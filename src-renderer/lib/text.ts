/** Whether every word of the query occurs in the text, in any order and case. Accents do not matter. */
export function matchesWords(text: string, query: string): boolean {
  const plain = foldText(text)
  return foldText(query)
    .split(/\s+/)
    .every((word) => plain.includes(word))
}

export function foldText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The part of a URL that keeps this search. */
export function searchPart(q: string | undefined): string {
  return q ? `?q=${encodeURIComponent(q)}` : ''
}

/** Up to two letters that stand for a name: "Release Watcher" → "RW". */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean)
  const letters = words.length > 1 ? [words[0]!, words.at(-1)!] : [words[0] ?? '?']
  return letters.map((word) => [...word][0]!.toLocaleUpperCase()).join('')
}

/** A small hash of the text. */
export function hashOf(text: string): number {
  let hash = 2166136261
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619)
  return hash >>> 0
}

/** A Markdown text as one line without its markup, for a preview. */
export function previewOf(markdown: string): string {
  return markdown
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/gs, '$2')
    .replace(/\s+/g, ' ')
    .trim()
}

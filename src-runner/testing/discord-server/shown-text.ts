/**
 * What a person sees of a message, as the apps of Discord show it: without markup, escapes and the brackets of links. Ranges in
 * `styles` are `<style>:<words>`.
 */
export function shownText(content: string, styles: string[] = []): string {
  return content
    .split(/(```(?:[a-z0-9_+\-.#]+\n)?\n*[^]+?\n*```)/i)
    .map((piece, i) => (i % 2 === 1 ? showBlock(piece, styles) : showLines(piece, styles)))
    .join('')
}

function showBlock(piece: string, styles: string[]): string {
  const [, , text] = /^```(?:([a-z0-9_+\-.#]+)\n)?\n*([^]+?)\n*```$/i.exec(piece)!
  styles.push(`pre:${text}`)
  return text!
}

function showLines(text: string, styles: string[]): string {
  return text
    .split('\n')
    .map((line) => {
      const quote = /^> (.*)$/s.exec(line)
      if (quote !== null) styles.push(`quote:${quote[1]}`)
      const heading = /^#{1,3} +(.+)$/s.exec(quote?.[1] ?? line)
      return showInline(heading?.[1] ?? quote?.[1] ?? line, styles)
    })
    .join('\n')
}

const RULES: [pattern: RegExp, show: (found: string[], styles: string[]) => string][] = [
  [/^\\([^0-9A-Za-z\s])/, ([, sign]) => sign!],
  [/^(`+)(?!`)([^]*?[^`])\1(?!`)/, ([, , code], styles) => mark(styles, 'code', code!.replace(/^ (?=`)|(?<=`) $/g, ''))],
  [/^<(https?:\/\/[^\s<>]+)>/, ([, address]) => address!],
  [/^https?:\/\/[^\s<]+[^<.,:;"'\])\s]/, ([address]) => address!],
  [/^<@!?(\d+)>/, ([, id]) => `@<user ${id}>`],
  [/^<#(\d+)>/, ([, id]) => `#<channel ${id}>`],
  [/^\[((?:\\.|[^\\\]])+)\]\(<?(https?:\/\/[^\s<>]+?)>?\)/, ([, words, address], styles) => mark(styles, `link ${address}`, words!, true)],
  [/^\*\*((?:\\[^]|[^\\])+?)\*\*(?!\*)/, ([, words], styles) => mark(styles, 'bold', words!, true)],
  [/^__((?:\\[^]|[^\\])+?)__(?!_)/, ([, words], styles) => mark(styles, 'underline', words!, true)],
  [/^~~((?:\\[^]|[^\\])+?)~~(?!_)/, ([, words], styles) => mark(styles, 'strike', words!, true)],
  [/^\|\|((?:\\[^]|[^\\])+?)\|\|/, ([, words], styles) => mark(styles, 'spoiler', words!, true)],
  [/^\*(?=[^\s*])((?:\*\*|\\[^]|[^\\*])+?)\*(?!\*)/, ([, words], styles) => mark(styles, 'italic', words!, true)],
  [/^\b_((?:__|\\[^]|[^\\_])+?)_(?!\w)/, ([, words], styles) => mark(styles, 'italic', words!, true)],
]

function mark(styles: string[], style: string, words: string, isNested = false): string {
  const shown = isNested ? showInline(words, styles) : words
  styles.push(`${style}:${shown}`)
  return shown
}

function showInline(text: string, styles: string[]): string {
  let shown = ''
  for (let rest = text; rest !== '';) {
    const rule = /^[\\`<h[*_~|]/.test(rest) ? RULES.find(([pattern]) => pattern.test(rest)) : undefined
    const found = rule?.[0].exec(rest)
    shown += found ? rule![1]([...found], styles) : rest[0]!
    rest = rest.slice(found ? found[0].length : 1)
  }
  return shown
}

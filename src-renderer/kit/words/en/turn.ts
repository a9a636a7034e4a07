import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const turn = {
  reasoning: 'Reasoning',
  interrupted: 'Cut off',
  interruptedWhy: 'This reply was cut off. Tools it asked for at the end were not run.',
  estimated: 'estimated',
  estimatedWhy: 'The provider did not say how many tokens it counted, so tokens and cost are an estimate.',
  demo: 'Demo',
  demoWhy: 'The built-in demo model follows a script. It costs nothing and knows nothing.',
  writing: 'Writing…',
  thinking: 'Thinking…',
  arguments: 'Arguments',
  output: 'Output',
  noOutput: 'No output',
  showMore: 'Show all of it',
  lines: (count: number) => plural(count, { one: '# line', other: '# lines' }),
  entries: (count: number) => plural(count, { zero: 'empty', one: '# entry', other: '# entries' }),
  hits: (count: number) => plural(count, { zero: 'no hits', one: '# hit', other: '# hits' }),
  characters: (count: number) => plural(count, { one: '# character', other: '# characters' }),
  toolState: {
    asked: 'waiting',
    skipped: 'not run',
    running: 'running',
    done: 'done',
    failed: 'failed',
    denied: 'not allowed',
    lost: 'outcome unknown',
  },
  /** What a call did, and what it is doing or was meant to do. */
  tool: {
    read: { done: (what: string) => `Read ${what}`, doing: (what: string) => `Reading ${what}` },
    write: { done: (what: string) => `Wrote ${what}`, doing: (what: string) => `Writing ${what}` },
    list: { done: (what: string) => `Looked into ${what}`, doing: (what: string) => `Looking into ${what}` },
    search: { done: (what: string) => `Searched for ${what}`, doing: (what: string) => `Searching for ${what}` },
    fetch: { done: (what: string) => `Fetched ${what}`, doing: (what: string) => `Fetching ${what}` },
    other: { done: (what: string) => `Used ${what}`, doing: (what: string) => `Using ${what}` },
  },
  openLink: (host: string) => `Open ${host}?`,
  openLinkNow: 'Open in the browser',
  quoted: (text: string) => `“${text}”`,
  itsFolders: 'its folders',
}

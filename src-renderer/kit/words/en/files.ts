import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const files = {
  title: 'Files it changed',
  count: (count: number) => plural(count, { one: '# file changed', other: '# files changed' }),
  change: { added: 'New', modified: 'Changed', deleted: 'Deleted', moved: 'Moved' },
  movedFrom: (path: string) => `was ${path}`,
  diff: (path: string) => `Changes in ${path}`,
  binary: 'This is not text, so there are no lines to show.',
  noEnd: 'The file ends here, without a line end',
  sizes: (before: string, after: string) => `${before} before, ${after} now`,
  gone: 'It was made and deleted again by this job.',
  same: 'Only its place changed; the text is the same.',
  empty: 'The file is empty.',
  truncated: 'The change is longer than what is shown here. The rest is in the file itself.',
  long: (count: number) => plural(count, { one: 'Show # more line', other: 'Show # more lines' }),
  added: (count: number) => plural(count, { one: '# line added', other: '# lines added' }),
  removed: (count: number) => plural(count, { one: '# line removed', other: '# lines removed' }),
  line: { add: 'Added', remove: 'Removed' },
  undo: 'Undo',
  undoOf: (path: string) => `Undo: ${path}`,
  undoTitle: (path: string) => `Undo the change of ${path}?`,
  undoText: {
    added: 'The file is deleted: before this job it was not there.',
    modified: 'The file gets back the text that it had before this job.',
    deleted: 'The file comes back as it was before this job.',
    moved: 'The file goes back to where it was, with the text that it had before this job.',
  },
  undoNow: 'Undo',
  undone: 'Undone',
  undoneToast: (path: string) => `${path} is as it was before`,
  changedSince: 'It was changed again since',
  changedSinceText: 'Somebody or something wrote to this file after the job. Putting back the old text loses that newer change.',
  undoAnyway: 'Undo anyway',
  cannot: 'It cannot be undone',
}

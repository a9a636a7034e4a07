import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const memory = {
  title: 'Memory',
  text: 'What this agent keeps in mind from one job to the next. You can read, change and delete all of it.',
  own: 'Its own',
  shared: 'Shared by all',
  search: 'Search memory',
  add: 'Add',
  newText: 'Something to remember',
  newPlaceholder: 'Invoices go into Documents/invoices, one folder a year.',
  none: 'It remembers nothing yet',
  noneText: 'Agents remember by themselves when something is worth keeping. You can also tell it here.',
  noneShared: 'Nothing is shared yet',
  noneSharedText: 'What stands here is known to every agent.',
  byPerson: 'written by you',
  byJob: 'from a job',
  openJob: 'Open the job that wrote it',
  untrusted: 'From untrusted text',
  untrustedWhy:
    'The job that wrote this had read text that anybody may have written. It is given to the agent with a warning. Save it yourself to vouch for it.',
  vouch: 'I checked it',
  edit: (text: string) => `Edit “${text}”`,
  delete: (text: string) => `Delete “${text}”`,
  deleteTitle: 'Delete this memory?',
  deleted: 'Forgotten',
  tooLong: (max: string) => `At most ${max} characters.`,
  ofJob: 'Memory it was given',
  ofJobText: 'What stood in its prompt, and what it looked up, as it read it then.',
  via: { prompt: 'in the prompt', recall: 'looked up' },
  count: (count: number) => plural(count, { one: '# memory', other: '# memories' }),
}

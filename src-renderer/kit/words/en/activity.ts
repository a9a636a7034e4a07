import { createPlural } from '../plural.ts'

const plural = createPlural('en')

export const activity = {
  title: 'Activity',
  search: 'Search titles, tasks and results',
  filters: 'Filters',
  status: 'Status',
  anyStatus: 'Any status',
  agent: 'Agent',
  anyAgent: 'Any agent',
  channel: 'Origin',
  anyChannel: 'Any origin',
  time: 'Time',
  anyTime: 'Any time',
  times: { today: 'Today', week: 'Last 7 days', month: 'Last 30 days' },
  statusGroups: { active: 'Under way', attention: 'Waiting for you', completed: 'Done', failed: 'Failed', cancelled: 'Stopped' },
  clearFilters: 'Clear filters',
  list: 'Jobs, newest first',
  newJobs: (count: number) => plural(count, { one: '# new job', other: '# new jobs' }),
  emptyTitle: 'Nothing has happened yet',
  emptyText: 'Every job your agents do is listed here, with each step, what it cost and how it ended, whatever started it.',
  startChat: 'Start a chat',
  noMatchTitle: 'No job matches',
  noMatchText: 'No job has all of this. Widen the search, or clear the filters.',
  retryOf: 'Retry',
}

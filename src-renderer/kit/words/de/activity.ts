import type { activity as en } from '../en/activity.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const activity: WordsLike<typeof en> = {
  title: 'Verlauf',
  search: 'Aufträge und Ergebnisse durchsuchen',
  filters: 'Filter',
  status: 'Status',
  anyStatus: 'Jeder Status',
  agent: 'Agent',
  anyAgent: 'Jeder Agent',
  channel: 'Herkunft',
  anyChannel: 'Jede Herkunft',
  time: 'Zeit',
  anyTime: 'Jederzeit',
  times: { today: 'Heute', week: 'Letzte 7 Tage', month: 'Letzte 30 Tage' },
  statusGroups: {
    active: 'In Arbeit',
    attention: 'Wartet auf dich',
    completed: 'Erledigt',
    failed: 'Fehlgeschlagen',
    cancelled: 'Angehalten',
  },
  clearFilters: 'Filter aufheben',
  list: 'Aufträge, die neuesten zuerst',
  newJobs: (count) => plural(count, { one: '# neuer Auftrag', other: '# neue Aufträge' }),
  emptyTitle: 'Noch ist nichts geschehen',
  emptyText: 'Jeder Auftrag deiner Agenten steht hier, mit jedem Schritt, seinen Kosten und seinem Ende, gleich was ihn begann.',
  startChat: 'Chat beginnen',
  noMatchTitle: 'Kein Auftrag passt',
  noMatchText: 'Kein Auftrag hat all das. Suche weiter gefasst, oder hebe die Filter auf.',
  retryOf: 'Neuer Versuch',
}

import type { memory as en } from '../en/memory.ts'
import type { WordsLike } from '../words.ts'

export const memory: WordsLike<typeof en> = {
  title: 'Gedächtnis',
  text: 'Was dieser Agent von einem Auftrag zum nächsten im Kopf behält. Du kannst alles lesen, ändern und löschen.',
  own: 'Eigenes',
  shared: 'Von allen geteilt',
  search: 'Gedächtnis durchsuchen',
  add: 'Hinzufügen',
  newText: 'Etwas zum Merken',
  newPlaceholder: 'Rechnungen gehören nach Dokumente/Rechnungen, ein Ordner je Jahr.',
  none: 'Er hat sich noch nichts gemerkt',
  noneText: 'Agenten merken sich von selbst, was sich lohnt. Du kannst es ihm auch hier sagen.',
  noneShared: 'Noch wird nichts geteilt',
  noneSharedText: 'Was hier steht, weiß jeder Agent.',
  byPerson: 'von dir',
  byJob: 'aus einem Auftrag',
  openJob: 'Auftrag öffnen, der es schrieb',
  untrusted: 'Aus fremdem Text',
  untrustedWhy:
    'Der Auftrag, der dies schrieb, hatte Text gelesen, den jeder geschrieben haben kann. Der Agent bekommt es mit einer Warnung. Speichere es selbst, um dafür einzustehen.',
  vouch: 'Ich habe es geprüft',
  edit: (text) => `„${text}“ ändern`,
  delete: (text) => `„${text}“ löschen`,
  deleteTitle: 'Diese Erinnerung löschen?',
  ofJob: 'Was er aus dem Gedächtnis bekam',
  ofJobText: 'Was in seinem Prompt stand und was er nachschlug, so wie er es damals las.',
  via: { prompt: 'im Prompt', recall: 'nachgeschlagen' },
}

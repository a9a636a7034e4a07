import type { files as en } from '../en/files.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const files: WordsLike<typeof en> = {
  title: 'Geänderte Dateien',
  count: (count) => plural(count, { one: '# Datei geändert', other: '# Dateien geändert' }),
  change: { added: 'Neu', modified: 'Geändert', deleted: 'Gelöscht', moved: 'Verschoben' },
  movedFrom: (path) => `war ${path}`,
  diff: (path) => `Änderungen in ${path}`,
  binary: 'Das ist kein Text, darum gibt es keine Zeilen zu zeigen.',
  noEnd: 'Hier endet die Datei, ohne Zeilenende',
  sizes: (before, after) => `vorher ${before}, jetzt ${after}`,
  gone: 'Dieser Auftrag hat sie angelegt und wieder gelöscht.',
  same: 'Nur ihr Ort hat sich geändert; der Text ist derselbe.',
  empty: 'Die Datei ist leer.',
  truncated: 'Die Änderung ist länger als das, was hier steht. Der Rest steht in der Datei selbst.',
  long: (count) => plural(count, { one: '# weitere Zeile zeigen', other: '# weitere Zeilen zeigen' }),
  added: (count) => plural(count, { one: '# Zeile hinzugefügt', other: '# Zeilen hinzugefügt' }),
  removed: (count) => plural(count, { one: '# Zeile entfernt', other: '# Zeilen entfernt' }),
  line: { add: 'Hinzugefügt', remove: 'Entfernt' },
  undo: 'Rückgängig',
  undoOf: (path) => `Rückgängig: ${path}`,
  undoTitle: (path) => `Änderung an ${path} rückgängig machen?`,
  undoText: {
    added: 'Die Datei wird gelöscht: Vor diesem Auftrag gab es sie nicht.',
    modified: 'Die Datei bekommt den Text zurück, den sie vor diesem Auftrag hatte.',
    deleted: 'Die Datei kommt zurück, wie sie vor diesem Auftrag war.',
    moved: 'Die Datei geht dahin zurück, wo sie war, mit dem Text von vor diesem Auftrag.',
  },
  undoNow: 'Rückgängig machen',
  undone: 'Rückgängig gemacht',
  undoneToast: (path) => `${path} ist wieder wie vorher`,
  changedSince: 'Sie wurde seither wieder geändert',
  changedSinceText:
    'Jemand oder etwas hat nach dem Auftrag in diese Datei geschrieben. Mit dem alten Text geht diese neuere Änderung verloren.',
  undoAnyway: 'Trotzdem rückgängig machen',
  cannot: 'Das lässt sich nicht rückgängig machen',
}

import type { turn as en } from '../en/turn.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const turn: WordsLike<typeof en> = {
  reasoning: 'Überlegung',
  interrupted: 'Abgebrochen',
  interruptedWhy: 'Diese Antwort brach ab. Werkzeuge, nach denen sie am Ende fragte, wurden nicht benutzt.',
  estimated: 'geschätzt',
  estimatedWhy: 'Der Anbieter hat keine Tokenzahl genannt; Token und Kosten sind geschätzt.',
  demo: 'Demo',
  demoWhy: 'Das eingebaute Demomodell folgt einem Drehbuch. Es kostet nichts und weiß nichts.',
  writing: 'Schreibt…',
  thinking: 'Denkt nach…',
  arguments: 'Argumente',
  output: 'Ergebnis',
  noOutput: 'Kein Ergebnis',
  showMore: 'Alles zeigen',
  lines: (count) => plural(count, { one: '# Zeile', other: '# Zeilen' }),
  entries: (count) => plural(count, { zero: 'leer', one: '# Eintrag', other: '# Einträge' }),
  hits: (count) => plural(count, { zero: 'keine Treffer', one: '# Treffer', other: '# Treffer' }),
  characters: (count) => plural(count, { one: '# Zeichen', other: '# Zeichen' }),
  toolState: {
    asked: 'wartet',
    skipped: 'nicht ausgeführt',
    running: 'läuft',
    done: 'fertig',
    failed: 'fehlgeschlagen',
    denied: 'nicht erlaubt',
    lost: 'Ausgang unbekannt',
  },
  tool: {
    read: { done: (what) => `${what} gelesen`, doing: (what) => `Liest ${what}` },
    write: { done: (what) => `${what} geschrieben`, doing: (what) => `Schreibt ${what}` },
    list: { done: (what) => `In ${what} nachgesehen`, doing: (what) => `Sieht in ${what} nach` },
    search: { done: (what) => `Nach ${what} gesucht`, doing: (what) => `Sucht nach ${what}` },
    fetch: { done: (what) => `${what} abgerufen`, doing: (what) => `Ruft ${what} ab` },
    other: { done: (what) => `${what} benutzt`, doing: (what) => `Benutzt ${what}` },
  },
  openLink: (host) => `${host} öffnen?`,
  openLinkNow: 'Im Browser öffnen',
  quoted: (text) => `„${text}“`,
  itsFolders: 'seinen Ordnern',
}

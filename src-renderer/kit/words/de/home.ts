import type { home as en } from '../en/home.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const home: WordsLike<typeof en> = {
  title: 'Start',
  unknown: 'Konnte nicht geladen werden. Vielleicht fehlt hier, was dich braucht.',
  calm: 'Nichts braucht dich.',
  needsYou: (count) => plural(count, { one: '# Sache braucht dich', other: '# Sachen brauchen dich' }),
  recovery: {
    text: (count) =>
      plural(count, {
        one: 'Deckhand ist nach einem Absturz neu gestartet. # Auftrag war unterwegs und hat behalten, was getan war.',
        other: 'Deckhand ist nach einem Absturz neu gestartet. # Aufträge waren unterwegs und haben behalten, was getan war.',
      }),
    seen: 'Gesehen',
  },
  composer: {
    label: 'Auftrag übergeben',
    placeholder: (agent) => `Was soll ${agent} tun?`,
    agent: 'Agent',
    send: 'Übergeben',
    sent: 'Übergeben.',
    noAgent: 'Dein erster Agent',
    noAgentWhy: 'Ein Agent tut die Arbeit, die du übergibst: Er hat Anweisungen, ein Modell und die Ordner, die er sehen darf.',
    createAgent: 'Agent anlegen',
    setUp: 'In drei Schritten einrichten',
  },
  attention: {
    title: 'Braucht dich',
    more: (count) => plural(count, { one: '# weiterer fehlgeschlagener Auftrag', other: '# weitere fehlgeschlagene Aufträge' }),
    moreDecisions: (count) => plural(count, { one: '# weitere Entscheidung wartet', other: '# weitere Entscheidungen warten' }),
    open: 'Öffnen',
    seen: 'Gesehen',
    allSeen: 'Alle als gesehen merken',
    times: (count) => plural(count, { one: 'einmal fehlgeschlagen', other: '#-mal fehlgeschlagen' }),
    retry: 'Erneut versuchen',
    noModel: 'Noch kein Modell gewählt',
    noModelWhy: 'Agenten ohne eigenes Modell können erst arbeiten, wenn es ein Standardmodell gibt.',
    chooseModel: 'Modell wählen',
  },
  away: {
    title: 'Während du weg warst',
    since: (when) => `Seit ${when}`,
    seen: 'Gesehen',
    cost: (cost) => `zusammen ${cost}`,
    runNow: 'Jetzt ausführen',
    runNowFor: (name) => `Jetzt ausführen: „${name}“`,
    started: (name) => `Ein Lauf von „${name}“ wurde gestartet`,
    webhooks: 'Webhooks',
    webhookJobs: (count) => plural(count, { one: '# Auftrag', other: '# Aufträge' }),
    webhookJobsMore: (count) => plural(count, { one: 'mehr als # Auftrag', other: 'mehr als # Aufträge' }),
    more: (count) => plural(count, { one: '# weiterer Zeitplan', other: '# weitere Zeitpläne' }),
  },
  running: {
    title: 'Läuft gerade',
    stop: (title) => `„${title}“ anhalten`,
    open: (title) => `„${title}“ öffnen`,
    step: (turns) => plural(turns, { one: 'Runde #', other: 'Runde #' }),
  },
  spend: {
    title: 'Heute ausgegeben',
    none: 'Heute noch nichts ausgegeben.',
    unpriced: (calls) =>
      plural(calls, { one: '# Aufruf ohne bekannten Preis zählt nicht mit', other: '# Aufrufe ohne bekannten Preis zählen nicht mit' }),
  },
  recent: {
    title: 'Letzte Aufträge',
    all: 'Ganzer Verlauf',
    empty: 'Noch kein Auftrag',
    emptyWhy: 'Übergib oben einen. Alles, was ein Agent tut, steht danach hier, Schritt für Schritt.',
    example: 'Beispiel ausprobieren',
    exampleText: 'Sieh dir meine Dateien an und sag mir, was darin steht.',
  },
}

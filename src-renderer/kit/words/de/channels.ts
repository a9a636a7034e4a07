import type { channels as en } from '../en/channels.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const channels: WordsLike<typeof en> = {
  title: 'Kanäle',
  about: 'Vom Telefon aus einem Agenten schreiben und dort von ihm hören.',
  kinds: { telegram: 'Telegram', discord: 'Discord', slack: 'Slack', messenger: 'WhatsApp' },
  connect: 'Telegram verbinden',
  empty: 'Von überall mit einem Agenten sprechen',
  emptyWhy:
    'Verbinde einen Agenten mit Telegram: Er beantwortet, was du schreibst, fragt dort nach, bevor er handelt, und meldet, was fertig ist. Nachrichten gehen von Telegram direkt auf diesen Rechner.',
  emptyNoAgent: 'Ein Kanal gehört zu einem Agenten, und es gibt noch keinen.',
  createAgent: 'Agenten anlegen',
  status: { off: 'Aus', connecting: 'Verbindet', open: 'Geht', failing: 'Nicht erreichbar', logged_out: 'Abgemeldet' },
  lastAnswer: 'Telegram hat zuletzt geantwortet',
  neverAnswered: 'Telegram hat noch nicht geantwortet.',
  agent: 'Agent',
  switchLabel: (name) => `${name} ist an`,
  actions: (name) => `Aktionen für ${name}`,
  test: 'Mir eine Testnachricht schicken',
  tested: 'Gesendet. Sie sollte jetzt auf deinem Telefon sein.',
  newToken: 'Anderes Token eintragen',
  disconnect: 'Trennen',
  disconnectTitle: (name) => `${name} trennen?`,
  disconnectWhy: 'Das Token wird vergessen, und niemand erreicht den Agenten dort mehr. Was gesagt wurde, bleibt in den Unterhaltungen.',
  copyLink: 'Adresse des Kontos kopieren',
  people: 'Leute',
  nobody: (name) => `Noch hat niemand geschrieben. Öffne ${name} in Telegram auf dem Telefon und schreibe; sag dann hier, dass du es bist.`,
  noOwner: 'Noch bist du keiner von ihnen. Sag, wer du bist, damit der Agent dich dort erreicht.',
  notAmong: (name, code) =>
    `Du hast geschrieben und stehst nicht hier? Sende ${code} an ${name}: Er antwortet mit deiner Nummer, und du bist dabei.`,
  asks: 'Hat geschrieben und wartet auf dein Wort',
  asksWhy: 'Wer das Konto findet, kann ihm schreiben, unter jedem Namen. Sieh auf die Nummer: Die kann sich niemand aussuchen.',
  number: (id) => `Nummer ${id}`,
  wrote: 'schrieb',
  isMe: 'Das bin ich',
  isMeTitle: (name) => `Bist du ${name}?`,
  isMeWhy:
    'Wer es ist, kann diesem Agenten dann in deinem Namen Arbeit geben und freigeben, was er fragt. War hier vorher jemand der Besitzer, kann er von nun an nur noch mit ihm sprechen.',
  letIn: 'Einlassen',
  letInTitle: (name) => `${name} einlassen?`,
  letInReach: (agent) =>
    `Was ${agent} von sich aus tun darf, tut er auch für Gäste: Wie viel das ist, entscheiden seine Stufe und deine Regeln. Von deinem sieht ein Gast nichts, bevor du es absendest.`,
  letInWhy:
    'Darf als Fremder mit dem Agenten sprechen: Was er schreibt, gilt als Text, den jeder geschrieben haben kann, und freigeben kann er nichts.',
  refuse: 'Abweisen',
  roles: { asked: 'Wartet', owner: 'Du', allowed: 'Darf schreiben', refused: 'Abgewiesen' },
  openConversation: 'Unterhaltung',
  refusedCount: (count) => plural(count, { one: '# abgewiesen', other: '# abgewiesen' }),
  outbox: {
    title: 'Nicht zustellbar',
    again: 'Noch einmal versuchen',
    queued: 'Es wird jetzt noch einmal versucht.',
    kinds: { reply: 'Antwort', confirmation: 'Bestätigung', approval: 'Frage', notice: 'Hinweis' },
    job: 'Auftrag',
    tries: (count) => plural(count, { one: '# Versuch', other: '# Versuche' }),
  },
  form: {
    title: 'Telegram verbinden',
    tokenTitle: (name) => `Anderes Token für ${name}`,
    about: 'Du legst in Telegram ein Konto für den Agenten an, einen Bot, und gibst Deckhand dessen Token. Das dauert eine Minute.',
    steps: [
      'Öffne in Telegram @BotFather und sende /newbot.',
      'Wähle einen Namen und einen Benutzernamen für den Bot.',
      'Kopiere das Token, mit dem BotFather antwortet, und füge es hier ein.',
    ],
    openBotFather: '@BotFather öffnen',
    token: 'Token',
    tokenHint: 'Liegt im Schlüsselbund und wird nie wieder gezeigt.',
    tokenBad: 'Ein Token sieht aus wie 123456789:AAE… Kopiere es ganz.',
    advanced: 'Anderer Server',
    baseUrl: 'Adresse eines Bot-API-Servers',
    baseUrlHint: 'Nur wenn du einen eigenen betreibst. Leer: der von Telegram.',
    send: 'Verbinden',
    sendToken: 'Dieses Token nehmen',
  },
  connected: {
    title: (name) => `${name} ist verbunden`,
    next: 'Schreibe ihm jetzt vom Telefon aus. Deine Nachricht erscheint hier, und du sagst, dass du es bist.',
    open: 'In Telegram öffnen',
    waiting: 'Wartet auf deine erste Nachricht …',
    done: 'Fertig',
  },
  ofAgent: {
    title: 'Kanäle',
    none: 'Nur in diesem Fenster erreichbar.',
    connect: 'Verbinden',
  },
}

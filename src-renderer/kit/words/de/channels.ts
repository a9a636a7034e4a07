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
    'Verbinden Sie einen Agenten mit Telegram: Er beantwortet, was Sie schreiben, fragt dort nach, bevor er handelt, und meldet, was fertig ist. Nachrichten gehen von Telegram direkt auf diesen Rechner.',
  emptyNoAgent: 'Ein Kanal gehört zu einem Agenten, und es gibt noch keinen.',
  createAgent: 'Agenten anlegen',
  status: { off: 'Aus', connecting: 'Verbindet', open: 'Geht', failing: 'Nicht erreichbar', logged_out: 'Abgemeldet' },
  lastAnswer: 'Telegram hat zuletzt geantwortet',
  neverAnswered: 'Telegram hat noch nicht geantwortet.',
  agent: 'Agent',
  switchLabel: (name) => `${name} ist an`,
  actions: (name) => `Aktionen für ${name}`,
  test: 'Mir eine Testnachricht schicken',
  tested: 'Gesendet. Sie sollte jetzt auf Ihrem Telefon sein.',
  newToken: 'Anderes Token eintragen',
  disconnect: 'Trennen',
  disconnectTitle: (name) => `${name} trennen?`,
  disconnectWhy: 'Das Token wird vergessen, und niemand erreicht den Agenten dort mehr. Was gesagt wurde, bleibt in den Unterhaltungen.',
  copyLink: 'Adresse des Kontos kopieren',
  people: 'Leute',
  nobody: (name) =>
    `Noch hat niemand geschrieben. Öffnen Sie ${name} in Telegram auf dem Telefon und schreiben Sie; sagen Sie dann hier, dass Sie es sind.`,
  noOwner: 'Noch sind Sie keiner von ihnen. Sagen Sie, wer Sie sind, damit der Agent Sie dort erreicht.',
  notAmong: (name, code) =>
    `Sie haben geschrieben und stehen nicht hier? Senden Sie ${code} an ${name}: Er antwortet mit Ihrer Nummer, und Sie sind dabei.`,
  asks: 'Hat geschrieben und wartet auf Ihr Wort',
  asksWhy: 'Wer das Konto findet, kann ihm schreiben, unter jedem Namen. Sehen Sie auf die Nummer: Die kann sich niemand aussuchen.',
  number: (id) => `Nummer ${id}`,
  wrote: 'schrieb',
  isMe: 'Das bin ich',
  isMeTitle: (name) => `Sind Sie ${name}?`,
  isMeWhy:
    'Wer es ist, kann diesem Agenten dann in Ihrem Namen Arbeit geben und freigeben, was er fragt. War hier vorher jemand der Besitzer, kann er von nun an nur noch mit ihm sprechen.',
  letIn: 'Einlassen',
  letInTitle: (name) => `${name} einlassen?`,
  letInReach: (agent) =>
    `Was ${agent} von sich aus tun darf, tut er auch für Gäste: Wie viel das ist, entscheiden seine Stufe und Ihre Regeln. Von Ihrem sieht ein Gast nichts, bevor Sie es absenden.`,
  letInWhy:
    'Darf als Fremder mit dem Agenten sprechen: Was er schreibt, gilt als Text, den jeder geschrieben haben kann, und freigeben kann er nichts.',
  refuse: 'Abweisen',
  roles: { asked: 'Wartet', owner: 'Sie', allowed: 'Darf schreiben', refused: 'Abgewiesen' },
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
    about: 'Sie legen in Telegram ein Konto für den Agenten an, einen Bot, und geben Deckhand dessen Token. Das dauert eine Minute.',
    steps: [
      'Öffnen Sie in Telegram @BotFather und senden Sie /newbot.',
      'Wählen Sie einen Namen und einen Benutzernamen für den Bot.',
      'Kopieren Sie das Token, mit dem BotFather antwortet, und fügen Sie es hier ein.',
    ],
    openBotFather: '@BotFather öffnen',
    token: 'Token',
    tokenHint: 'Liegt im Schlüsselbund und wird nie wieder gezeigt.',
    tokenBad: 'Ein Token sieht aus wie 123456789:AAE… Kopieren Sie es ganz.',
    advanced: 'Anderer Server',
    baseUrl: 'Adresse eines Bot-API-Servers',
    baseUrlHint: 'Nur wenn Sie einen eigenen betreiben. Leer: der von Telegram.',
    send: 'Verbinden',
    sendToken: 'Dieses Token nehmen',
  },
  connected: {
    title: (name) => `${name} ist verbunden`,
    next: 'Schreiben Sie ihm jetzt vom Telefon aus. Ihre Nachricht erscheint hier, und Sie sagen, dass Sie es sind.',
    open: 'In Telegram öffnen',
    waiting: 'Wartet auf Ihre erste Nachricht…',
    done: 'Fertig',
  },
  ofAgent: {
    title: 'Kanäle',
    none: 'Nur in diesem Fenster erreichbar.',
    connect: 'Verbinden',
  },
}

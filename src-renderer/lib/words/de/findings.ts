import { createPlural } from '../plural.ts'
import type { DatabaseTroubleWords, HealthWords, FindingTexts } from '../sentences.ts'

const plural = createPlural('de')

export const databaseTrouble: DatabaseTroubleWords = {
  damaged: {
    title: 'Die Datenbank ist beschädigt',
    detail: 'Ein Teil der gespeicherten Daten ist nicht mehr lesbar.',
    fix: 'Kopiere den Datenordner jetzt auf eine andere Platte. Beende dann Deckhand und stelle eine Sicherung des Ordners wieder her.',
  },
  disk_full: {
    title: 'Die Platte ist voll',
    detail: 'Nichts kann gespeichert werden, deshalb ruht die Arbeit.',
    fix: 'Schaffe Platz. Nach wenigen Sekunden geht es von selbst weiter.',
  },
  read_only: {
    title: 'Die Datenbank ist schreibgeschützt',
    detail: 'Nichts kann gespeichert werden, deshalb ruht die Arbeit.',
    fix: 'Gib deinem Konto Schreibrechte für den Datenordner und die Dateien darin.',
  },
  locked: {
    title: 'Ein anderes Programm sperrt die Datenbank',
    detail: 'Bis es fertig ist, kann nichts gespeichert werden.',
    fix: 'Schließe Programme, die deckhand.db geöffnet haben, etwa einen Datenbank-Browser oder eine Sicherung.',
  },
  unavailable: {
    title: 'Die Datenbank ist nicht benutzbar',
    detail: 'Daten können gerade nicht gelesen oder gespeichert werden. Das Protokoll sagt, warum.',
    fix: 'Starte Deckhand neu. Hilft das nicht, sieh ins Protokoll.',
  },
}

function programsThere(names: string): string {
  return names === '' ? 'Von den bekannten Programmen ist keines da.' : `Agenten können ${names} und andere starten.`
}

function programsFound({ names, used, leftOut }: FindingTexts): string {
  const own = used === '' ? '' : ` Von dir, aus ${used}: ohne deine Anmeldungen und Einstellungen.`
  return `${programsThere(names)}${own}${leftOut === '' ? '' : ` Ausgelassen: ${leftOut}.`}`
}

export const doctor: HealthWords = {
  findings: {
    no_answer: () => 'Hier kam binnen zwei Sekunden keine Antwort.',
    broke: ({ why }) => why,
    database_answers: ({ size, logSize }) => `Liest und antwortet. ${size}, dazu ${logSize} Änderungen auf dem Weg hinein.`,
    database_trouble: ({ why }) => why,
    disk_free: ({ size, folder }) => `${size} sind frei, wo Deckhand seine Daten hat (${folder}).`,
    sandbox_missing: ({ why }) => `Agenten können keine Programme ausführen. ${why}`.trim(),
    sandbox_works: ({ sandbox }) =>
      `Programme der Agenten hält ${sandbox}. Das Internet erreichen sie, wo eine Regel es öffnet, und nie die Server dieses Rechners.`,
    sandbox_without_network: ({ sandbox, why }) => `Programme der Agenten hält ${sandbox}. Sie haben kein Netz. ${why}`.trim(),
    programs_found: programsFound,
    programs_shell_open: (facts) =>
      `Deine Shell (${facts.shell || 'keine'}) wird nicht gefragt, wo deine Programme sind, weil ein Agent Dateien schreiben kann, die sie liest. Gib Agenten Ordner, in denen weder dein persönlicher Ordner noch dessen Einstellungen liegen. ${programsFound(facts)}`,
    programs_unasked: (facts) =>
      `Deine Shell (${facts.shell || 'keine'}) hat nicht gesagt, wo deine Programme sind. ${programsFound(facts)}`,
    programs_of_system: ({ names }) => `${programsThere(names)} Was du bei dir installiert hast, wird ihnen nicht gezeigt.`,
    trash_works: () => 'Was Agenten löschen, kommt in den Papierkorb dieses Systems.',
    trash_missing: () =>
      'Dieses System hat keinen Papierkorb, den Deckhand benutzen kann. Was Agenten löschen, ist aus seinem Ordner verschwunden.',
    keychain_works: () => 'Schlüssel und Tokens lassen sich lesen und schreiben.',
    // Why is said by the system, in its own language.
    keychain_shut: () => 'Der Schlüsselbund lässt sich nicht benutzen.',
    no_model: () => 'Kein Modell ist gewählt; so können Agenten nicht arbeiten.',
    demo_model: () => 'Agenten arbeiten mit dem Demo-Modell, das nur so tut.',
    models_answer: ({ names, count }) => plural(count, { one: `${names} antwortet.`, other: `${names} antworten.` }),
    models_fail: ({ why }) => why,
    safe_mode: () => 'Abgesicherter Modus: Nichts läuft nach der Uhr.',
    pause_all_on: () => 'Alle Agenten sind pausiert: Fällige Läufe warten.',
    nothing_due: () => 'Nichts wird fällig: Es gibt keinen aktiven Zeitplan.',
    overdue: ({ count }) => plural(count, { one: 'Ein Lauf ist seit # Minute fällig.', other: 'Ein Lauf ist seit # Minuten fällig.' }),
    clock_watched: () => 'Die Uhr wird beobachtet: Der nächste Lauf beginnt zu seiner Zeit.',
    no_channel: () => 'Kein Kanal ist an.',
    channels_work: ({ names }) => `${names}: Zuletzt kam eine Antwort.`,
    channels_fail: ({ why }) => why,
    only_here: () => 'Nur dieser Rechner erreicht Webhooks. Für Programme auf ihm reicht das.',
    address_unreachable: ({ why }) => why,
    address_works: ({ url }) => `Was an ${url} zugestellt wird, kommt hier an.`,
    address_unchecked: ({ url }) => `${url} ist noch nicht geprüft.`,
  },
  waiting: (count) => plural(count, { zero: '', one: ' # Nachricht ist noch zu senden.', other: ' # Nachrichten sind noch zu senden.' }),
  fixes: {
    look_again: 'Sieh gleich noch einmal nach. Bleibt es so, starte Deckhand neu.',
    restart: 'Starte Deckhand neu: Dann kommen die Änderungen dorthin, wo sie hingehören.',
    database_damaged: databaseTrouble.damaged.fix,
    database_disk_full: databaseTrouble.disk_full.fix,
    database_read_only: databaseTrouble.read_only.fix,
    database_locked: databaseTrouble.locked.fix,
    database_unavailable: databaseTrouble.unavailable.fix,
    free_space: 'Schaffe Platz auf dieser Platte. Ohne Platz wird kein Auftrag angenommen.',
    look_at_shell: 'Öffne ein Terminal: Startet deine Shell dort in wenigen Sekunden und ohne etwas zu fragen? Dann starte Deckhand neu.',
    put_back: 'Eine Datei lässt sich aus dem Auftrag zurückholen, der sie gelöscht hat, solange es ihn gibt.',
    unlock_keychain: 'Entsperre den Schlüsselbund dieses Systems. Auf einem Rechner ohne einen starte Deckhand mit DECKHAND_VAULT=file.',
    choose_model: 'Wähle auf der Seite „Modelle & Schlüssel“ ein Standardmodell.',
    add_provider: 'Füge auf der Seite „Modelle & Schlüssel“ einen Anbieter hinzu.',
    look_at_provider: 'Sieh dir den Anbieter auf der Seite „Modelle & Schlüssel“ an.',
    leave_safe_mode: 'Starte Deckhand wie gewohnt neu.',
    release_pause_all: 'Setze alle Agenten fort.',
    restart_or_logs: 'Starte Deckhand neu. Hilft das nicht, sagt das Protokoll, warum.',
    new_token: 'Trage auf der Seite „Kanäle“ ein neues Token für den Kanal ein.',
    waits_by_itself: 'Es wird von selbst wieder versucht.',
    look_at_address: 'Sieh dir die öffentliche Adresse in den Einstellungen an, und prüfe sie noch einmal.',
    check_address: 'Prüfe die öffentliche Adresse in den Einstellungen.',
  },
  leftOut: {
    relative: 'er hängt davon ab, wo ein Programm läuft',
    home_itself: 'er ist der persönliche Ordner selbst',
    agents_write: 'dort schreiben Agenten',
    others_write: 'dort schreibt auf diesem Rechner jeder',
    closed: 'er ist für Agenten gesperrt',
    secrets: 'dort liegen Schlüssel und Einstellungen',
    leads_out: 'er führt woandershin, als er sagt',
    elsewhere: 'er gehört weder dem System noch liegt er bei dir',
    no_choice: 'niemand sagt, welche Versionen gewählt sind',
    not_programs: 'vieles darin ist kein Programm',
    too_much: 'was darin ist, braucht zu viele andere Orte',
  },
}

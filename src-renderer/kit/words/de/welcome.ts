import type { welcome as en } from '../en/welcome.ts'
import { createPlural } from '../plural.ts'
import type { WordsLike } from '../words.ts'

const plural = createPlural('de')

export const welcome: WordsLike<typeof en> = {
  title: 'Willkommen bei Deckhand',
  about: 'Agenten, die auf deinem eigenen Rechner arbeiten, nach deinen Regeln. Drei kurze Schritte, und der erste Auftrag läuft.',
  skip: 'Überspringen',
  step: (at, of) => `Schritt ${at} von ${of}`,
  steps: { model: 'Modell', agent: 'Agent', job: 'Erster Auftrag' },
  model: {
    title: 'Wähle ein Modell',
    about: 'Hier denken deine Agenten. Das lässt sich jederzeit ändern.',
    found: 'Auf diesem Rechner gefunden',
    foundNote: 'Privat und kostenlos: Nichts verlässt diesen Rechner.',
    looking: 'Auf diesem Rechner wird nach Modellservern gesucht …',
    use: 'Nehmen',
    modelsOf: (name) => `Modell von ${name}`,
    noModels: 'Er läuft, hat aber noch kein Modell. Lade dort eines, dann erscheint es hier.',
    connected: 'Verbunden',
    key: 'Mit einem Schlüssel',
    keyNote: 'Du bezahlst beim Anbieter, was du verbrauchst. Deckhand zeigt die Kosten jedes Auftrags.',
    other: 'Anderer Server',
    connectTitle: (provider) => `${provider} verbinden`,
    chooseOne: (provider) => `${provider} ist verbunden. Welches Modell sollen Agenten benutzen?`,
    demo: 'Nur mal schauen? Nimm das Demo-Modell',
    demoNote: 'Eingebaut, ohne Netz, kostenlos. Es folgt einem Drehbuch, statt zu denken, aber der Auftrag ist echt.',
    demoUse: 'Demo ausprobieren',
  },
  agent: {
    title: 'Benenne deinen ersten Agenten',
    about: 'Nimm eine Vorlage und mach sie zu deiner. Er kann lesen, was du erlaubst, und sonst nichts.',
    starter: 'Vorlage',
    name: 'Name',
    instructions: 'Anweisungen',
    instructionsHint: 'Was dem Agenten vor jedem Auftrag gesagt wird.',
    showInstructions: 'Anweisungen lesen und ändern',
    folder: 'Ordner, den er lesen darf',
    folderHint: 'Die Dateien bleiben, wo sie sind. Ohne Ordner kann der Agent nur reden.',
    sample: 'Beispielordner verwenden',
    pick: 'Ordner wählen …',
    change: 'Ändern …',
    pathPlaceholder: 'Pfad eines Ordners, zum Beispiel /home/ich/Dokumente/Notizen',
    create: 'Agent anlegen',
    starters: {
      guide: {
        name: 'Dateikenner',
        what: 'Kennt sich in einem Ordner aus: erklärt, was da ist, und findet Dinge.',
        instructions:
          'Du hilfst einem Menschen, sich in einem seiner Ordner zurechtzufinden. Sieh nach, bevor du antwortest: Liste auf, was da ist, suche nach dem Wichtigen und lies die Dateien, die passen. Nenne zu jeder Aussage die Datei. Steht etwas nicht im Ordner, sag das, statt zu raten. Antworte kurz und übersichtlich.',
      },
      notes: {
        name: 'Notizenleser',
        what: 'Liest deine Notizen und fasst sie zusammen, mit Quelle zu jedem Punkt.',
        instructions:
          'Du machst aus einem Ordner voller Notizen Antworten. Lies jede Notiz, die zur Frage gehört, bevor du schreibst. Ordne nach Themen, setze den Dateinamen hinter jeden Punkt, und zeige, wo Notizen einander widersprechen oder veraltet sind. Schließe mit den Fragen, die offen bleiben.',
      },
      editor: {
        name: 'Genauer Lektor',
        what: 'Liest Entwürfe gegen: Fehler, unklare Sätze und eine bessere Fassung.',
        instructions:
          'Du liest Texte Korrektur. Lies zuerst den ganzen Text. Dann nenne, was du ändern würdest, in der Reihenfolge des Textes: die Zeile, was nicht stimmt, und die bessere Fassung. Trenne Fehler von Geschmack, und lass den Ton des Autors. Nenne am Ende die zwei Änderungen, die am meisten helfen.',
      },
    },
  },
  job: {
    title: (agent) => `Gib ${agent} einen ersten Auftrag`,
    about: 'Nimm einen Vorschlag oder schreib einen eigenen. Du siehst jeden Schritt und kannst jederzeit anhalten.',
    task: 'Erster Auftrag',
    placeholder: 'Was ist zu tun?',
    run: 'Ersten Auftrag starten',
    suggestions: 'Vorschläge',
    prompts: {
      guide: [
        'Sieh dir meinen Ordner an und sag mir, was darin ist.',
        'Welche Dateien gibt es, und worum geht es darin?',
        'Finde alles über Geld in meinen Dateien.',
      ],
      notes: [
        'Fasse meine Notizen in zehn Punkten zusammen, mit Quellen.',
        'Welche Themen haben meine Notizen, und wo widersprechen sie sich?',
        'Welche Fragen lassen meine Notizen offen?',
      ],
      editor: [
        'Liste meine Texte und sag mir, welcher die meiste Arbeit braucht.',
        'Lies den neuesten Entwurf in meinem Ordner Korrektur.',
        'Finde Sätze in meinen Texten, die schwer zu lesen sind.',
      ],
      none: ['Was kannst du für mich tun?', 'Wer bist du, und wie arbeitest du?'],
    },
    running: 'Dein erster Auftrag läuft',
    completed: 'Das war dein erster Auftrag',
    failed: 'Der erste Auftrag hat nicht geklappt',
    stopped: 'Angehalten',
    home: 'Zum Start',
    details: 'Jeden Schritt ansehen',
    chat: 'Weiterreden',
    again: 'Noch einen versuchen',
    closed: 'Du kannst diese Seite verlassen: Der Auftrag geht weiter.',
    steps: (count) => plural(count, { one: '# Schritt', other: '# Schritte' }),
  },
}

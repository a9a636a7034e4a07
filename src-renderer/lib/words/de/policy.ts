import type { PolicyWords } from '../sentences.ts'

export const policy: PolicyWords = {
  matters: {
    leaves_machine: 'schickt etwas von diesem Rechner hinaus',
    costs_money: 'kostet Geld',
    deletes: 'löscht etwas',
    overwrites: 'überschreibt etwas, das der Agent nicht geschrieben hat',
    runs_code: 'führt ein Programm aus',
    runs_later: 'ändert eine Datei, die später von selbst läuft',
  },
  trace: {
    own_folder: () => 'Der Datenordner von Deckhand ist jedem Agenten verschlossen.',
    own_interface: () => 'Agenten erreichen die Schnittstelle von Deckhand nicht; so kann sich keiner selbst etwas freigeben.',
    wrecks_system: () => 'Dieser Befehl kann das System zerstören; kein Agent darf ihn je ausführen.',
    pauseAll: () => 'Alle Agenten sind pausiert, darum braucht jeder Aufruf eine Freigabe.',
    no_sandbox: () => 'Dieser Rechner hat keine Sandbox, die das Programm halten könnte; darum wird jedes Mal gefragt.',
    untrusted_and_private: (facts) =>
      `Der Auftrag hat private Daten gelesen (${facts.private}) und Text, den jeder geschrieben haben kann (${facts.untrusted}); darum verlässt nichts ungefragt diesen Rechner.`,
    untrusted_and_program: ({ untrusted }) =>
      `Der Auftrag hat Text gelesen, den jeder geschrieben haben kann (${untrusted}), und ein Programm mit Netz kann hinausschicken, was es in seinem Ordner findet; darum läuft es nicht ungefragt.`,
    untrusted_and_later: ({ untrusted }) =>
      `Der Auftrag hat Text gelesen, den jeder geschrieben haben kann (${untrusted}), und diese Datei läuft später von selbst; darum wird sie nicht ungefragt geändert.`,
    untrusted_delegation: ({ untrusted }) =>
      `Der Auftrag hat Text gelesen, den jeder geschrieben haben kann (${untrusted}); darum gibt er keine Arbeit weiter, ohne zu fragen.`,
    changed_since: ({ change }) => `Du hast diesen Aufruf freigegeben, aber ${change}; darum wird noch einmal gefragt.`,
    grant: ({ tool }) => `Du hast ${tool} für den Rest dieses Auftrags erlaubt.`,
    rule: ({ rule }) => `Die Regel: ${rule}.`,
    on_its_own: () => 'Der Agent arbeitet selbständig: Nur Regeln halten ihn auf.',
    only_reads: () => 'Der Agent fragt zuerst, und dieser Aufruf liest nur.',
    asks_first: ({ matters }) => `Der Agent fragt vor jedem Aufruf, der mehr tut als lesen.${matters === '' ? '' : ` Dieser ${matters}.`}`,
    nothing_matters: () => 'Der Agent fragt, wenn es darauf ankommt, und bei diesem Aufruf tut es das nicht.',
    it_matters: ({ matters }) => `Der Agent fragt, wenn es darauf ankommt.${matters === '' ? '' : ` Dieser Aufruf ${matters}.`}`,
  },
  changes: {
    no_sandbox: 'es gibt keine Sandbox mehr, die das Programm halten könnte',
    network: 'das Programm hat jetzt Netz',
    place: 'er führt jetzt an einen anderen Ort',
    program: 'sein erstes Wort steht jetzt für ein anderes Programm',
    appeared: 'wo nichts war, ist inzwischen etwas',
    changed: 'worum es geht, hat sich geändert',
    more: 'er würde jetzt mehr tun als damals',
  },
  onBehalfOf: ({ agent, said }) => `Für ${agent}, von dem diese Arbeit kommt: ${said}`,
  causes: {
    started_by: ({ channel }) => `begonnen durch ${channel}`,
    answer_of: ({ tool }) => `die Antwort von ${tool}`,
    call_of: ({ tool }) => tool,
    runs_before: () => 'was frühere Läufe sagten und sich merkten, in seiner Aufgabe',
    memories: () => 'woran sich der Agent erinnert, in seiner Aufgabe',
    supposed: () => 'angenommen',
  },
}

import type { PolicyWords } from '../sentences.ts'

const forAll = (shared: boolean) => (shared ? ' für alle Agenten' : '')

export const policy: PolicyWords = {
  matters: {
    leaves_machine: 'schickt etwas von diesem Rechner hinaus',
    costs_money: 'kostet Geld',
    deletes: 'löscht etwas',
    overwrites: 'überschreibt etwas, das der Agent nicht geschrieben hat',
    runs_code: 'führt ein Programm aus',
    runs_later: 'ändert eine Datei, die später von selbst läuft',
  },
  voices: {
    own_folder: () => 'Der Datenordner von Deckhand ist jedem Agenten verschlossen.',
    own_interface: () => 'Agenten erreichen die Schnittstelle von Deckhand nicht; so kann sich keiner selbst etwas freigeben.',
    wrecks_system: () => 'Dieser Befehl kann das System zerstören; kein Agent darf ihn je ausführen.',
    brake: () => 'Die Notbremse ist gezogen; darum wird jeder Aufruf gefragt.',
    no_box: () => 'Dieser Rechner hat keine Sandbox, die das Programm halten könnte; darum wird jedes Mal gefragt.',
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
  effects: {
    create: ({ path, bytes }) => `Anlegen: ${path} (${bytes})`,
    replace: ({ path, bytes, newBytes, own }) =>
      `${own ? 'Ersetzen, was dieser Agent selbst geschrieben hat' : 'Überschreiben'}: ${path} (${bytes} → ${newBytes})`,
    change: ({ path, bytes, newBytes }) =>
      `Ändern: ein Teil von ${path} (${bytes}${newBytes === '' ? ', wo immer er vorkommt' : ` → ${newBytes}`})`,
    delete: ({ path, bytes, forGood }) => `${forGood ? 'Endgültig löschen' : 'Löschen'}: ${path} (${bytes})`,
    move: ({ path, bytes, to }) => `Verschieben: ${path} (${bytes}) nach ${to}`,
    done_before: ({ path }) => `Nichts weiter: ${path} wurde geändert, bevor die App anhielt`,
    read: ({ path }) => `Lesen: ${path}`,
    search: ({ path }) => `Durchsuchen: ${path}`,
    list: ({ path }) => `Auflisten: ${path}`,
    fetch: ({ address }) => `Lesen: ${address}`,
    web_search: ({ query, provider }) => `Suchen im Web: „${query}“, mit ${provider}`,
    remember: ({ text, shared }) => `Merken${forAll(shared)}: ${text}`,
    forget: ({ text, shared }) => `Vergessen${forAll(shared)}: ${text}`,
    forget_nothing: () => 'Nichts: Diese Erinnerung gibt es nicht.',
    keep: ({ text }) => `Für den nächsten Lauf merken: ${text}`,
    ask: ({ question }) => `Dich fragen: ${question}`,
    list_agents: () => 'Die anderen Agenten auflisten',
    delegate: ({ agent, task }) => `Dem Agenten ${agent} eine Aufgabe geben: ${task}`,
    run: ({ line, shell, folder, box, why }) => {
      const what = shell === null ? `„${line}“` : `die Shell-Zeile „${line}“ (gelesen von ${shell})`
      const how = {
        with_network: 'in der Sandbox, mit Netz',
        without_network: 'in der Sandbox, ohne Netz',
        none: `ohne Sandbox: Es kann alles, was du kannst. ${why}`.trim(),
      }
      return `Ausführen: ${what} in ${folder}, ${how[box]}`
    },
  },
  lost: '. Das ist zu groß, um aufbewahrt zu werden, und lässt sich nicht rückgängig machen',
}

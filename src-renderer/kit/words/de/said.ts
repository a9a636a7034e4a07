import { isServiceName } from '../../../../src-runner/contract/channels.ts'
import { countText, moneyText } from '../../numbers.ts'
import type { SaidWords } from '../sentences.ts'

const AWAY = 'Deckhand lief zu dieser Zeit nicht, oder der Rechner schlief'
const FIVE_FIELDS = 'Minute, Stunde, Tag des Monats, Monat, Wochentag'
const FIELDS: Record<string, { in: string; no: string }> = {
  minute: { in: 'bei der Minute', no: 'keine Minute' },
  hour: { in: 'bei der Stunde', no: 'keine Stunde' },
  'day of the month': { in: 'beim Tag des Monats', no: 'kein Tag des Monats' },
  month: { in: 'beim Monat', no: 'kein Monat' },
  weekday: { in: 'beim Wochentag', no: 'kein Wochentag' },
}
const KEYS = '„Modelle & Schlüssel“'

const within = (field: string) => FIELDS[field]?.in ?? field
const none = (field: string) => FIELDS[field]?.no ?? field
const server = (name: string) => (isServiceName(name) ? name : `Der Server ${name}`)
const usd = (amount: number) => moneyText(amount, 'de')
const number = (value: number) => countText(value, 'de')

export const said: SaidWords = {
  due_on_time: () => 'Pünktlich.',
  due_late: ({ seconds }) => `${number(seconds)} Sekunden zu spät.`,
  due_caught_up: () => `${AWAY}. Dieser Lauf holt es nach.`,
  due_waited: () => 'Der Lauf davor war noch nicht zu Ende; dieser begann danach.',
  due_asked_for: () => 'Von Hand gestartet.',
  due_paused: () => 'Der Zeitplan war angehalten.',
  due_paused_waiting: () => 'Er wartete auf das Ende des Laufs davor, als der Zeitplan angehalten wurde.',
  due_missed: () => `${AWAY}. Von den verpassten Läufen wird nur der neueste nachgeholt.`,
  due_no_catch_up: () => `${AWAY}, und dieser Zeitplan holt nichts nach.`,
  due_over_an_hour_ago: () => `${AWAY}, und es ist länger her als die Stunde, binnen der dieser Zeitplan nachholt.`,
  due_too_long_ago: ({ hours }) =>
    `${AWAY}, und es ist länger her als die ${number(hours)} Stunden, binnen derer dieser Zeitplan nachholt.`,
  due_safe_mode: () => 'Im abgesicherten Modus laufen keine Zeitpläne.',
  due_overtaken: () => 'Die nächste fällige Zeit kam, bevor er laufen konnte.',
  due_over_budget: ({ spentUsd, budgetUsd }) =>
    `Die Aufträge des Agenten kosteten heute ${usd(spentUsd)}; das Tagesbudget dieses Zeitplans ist ${usd(budgetUsd)}.`,
  due_held_by_brake: () => 'Der Lauf davor hat wegen der Notbremse noch nicht begonnen. Dieser läuft danach.',
  due_held_by_question: () => 'Der Lauf davor wartet auf deine Antwort. Dieser läuft danach.',
  due_held_by_stuck: () => 'Der Lauf davor dauert schon mehr als 2 Stunden und hängt wohl. Dieser läuft danach.',
  due_held: () => 'Der Lauf davor ist noch nicht zu Ende. Dieser läuft danach.',
  due_skipped_by_brake: () => 'Der Lauf davor hatte wegen der Notbremse noch nicht begonnen, als die nächste fällige Zeit kam.',
  due_skipped_by_question: () => 'Der Lauf davor wartete auf deine Antwort, als die nächste fällige Zeit kam.',
  due_skipped_by_stuck: () => 'Der Lauf davor dauerte schon mehr als 2 Stunden und hing wohl, als die nächste fällige Zeit kam.',
  due_skipped: () => 'Der Lauf davor war noch nicht zu Ende, als die nächste fällige Zeit kam.',
  brake_holds: () => 'Die Notbremse ist gezogen: Er beginnt, sobald sie gelöst wird.',

  cron_never_due: () => 'Das wird nie fällig: Keiner seiner Monate hat so einen Tag.',
  cron_bad_zone: ({ zone }) => `„${zone}“ ist keine Zeitzone. Gebraucht wird ein Name wie Europe/Berlin.`,
  cron_nickname: ({ text, meant }) => `Schreibe statt „${text}“ die fünf Felder: ${meant}`,
  cron_no_time: ({ text }) => `„${text}“ ist keine Zeit. Schreibe fünf Felder, etwa 0 9 * * *`,
  cron_empty: () => `Schreibe fünf Felder: ${FIVE_FIELDS}.`,
  cron_one_field: () => `Das ist 1 Feld; fünf werden gebraucht: ${FIVE_FIELDS}.`,
  cron_six_fields: () => `Das sind 6 Felder; fünf werden gebraucht: ${FIVE_FIELDS}. Sekunden und Jahre lassen sich nicht angeben.`,
  cron_fields: ({ count }) => `Das sind ${number(count)} Felder; fünf werden gebraucht: ${FIVE_FIELDS}.`,
  cron_comma: ({ field }) => `Ein Komma zu viel ${within(field)}.`,
  cron_two_steps: ({ item, field }) => `„${item}“ ${within(field)} hat mehr als eine Schrittweite.`,
  cron_no_range: ({ item, field }) => `„${item}“ ${within(field)} ist kein Bereich. Ein Bereich hat zwei Enden, etwa 1-5.`,
  cron_step_needs_range: ({ range, field }) => `Eine Schrittweite braucht einen Bereich: Schreibe ${range} ${within(field)}.`,
  cron_backwards: ({ item, field }) =>
    `Der Bereich „${item}“ ${within(field)} endet, bevor er beginnt. Schreibe ihn als zwei, mit einem Komma.`,
  cron_outside: ({ value, field, min, max }) => `${value} ist ${none(field)}: Es geht von ${min} bis ${max}.`,
  cron_outside_hour: ({ value, min, max }) => `${value} ist keine Stunde: Es geht von ${min} bis ${max}.`,
  cron_question_mark: ({ field }) => `Schreibe ${within(field)} * statt ?.`,
  cron_not_plain: ({ item, field }) =>
    `„${item}“ ${within(field)} ist kein einfaches cron: L, W und # gehen nicht. Nenne die Tage, und lass die Aufgabe den Rest prüfen.`,
  cron_unknown: ({ item, field }) => `„${item}“ ist ${none(field)}.`,
  cron_unknown_hour: ({ item }) => `„${item}“ ist keine Stunde.`,
  cron_step_missing: ({ item, field }) => `„${item}“ ${within(field)} braucht nach dem Schrägstrich eine Schrittweite von 1 oder mehr.`,
  cron_step_too_long: ({ step, field, min, max }) =>
    `Die Schrittweite ${step} ${within(field)} ist länger, als es geht (${min} bis ${max}): Es wäre nur einmal fällig.`,

  chat_token_refused: (facts) =>
    `${server(facts.server)} nimmt das Token nicht an. Lass dir von @BotFather ein neues geben und trage es bei diesem Kanal ein.`,
  chat_token_unknown: (facts) =>
    `${server(facts.server)} kennt keinen Bot mit diesem Token. Kopiere es noch einmal von @BotFather, von der ersten Ziffer bis zum Ende.`,
  chat_other_reader: () =>
    'Ein anderes Programm liest die Nachrichten dieses Bots, und nur eines kann das. Beende es, oder lass dir von @BotFather ein neues Token geben (/revoke) und trage es bei diesem Kanal ein.',
  chat_web_address: () => 'Der Bot gibt seine Nachrichten an eine Webadresse weiter.',
  chat_slow_down: (facts) => `${server(facts.server)} bittet um weniger Nachrichten.`,
  chat_not_delivered: (facts) => `${server(facts.server)} stellt in diesen Chat nicht zu: ${facts.words}`,
  chat_in_trouble: (facts) => `${server(facts.server)} hat eine Störung (${facts.status}): ${facts.words}`,
  chat_refused: (facts) => `${server(facts.server)} hat es abgelehnt: ${facts.words}`,
  chat_file_refused: (facts) => `${server(facts.server)} hat die Datei nicht herausgegeben (${facts.status}).`,
  chat_no_answer: (facts) => `${server(facts.server)} hat nicht rechtzeitig geantwortet.`,
  chat_too_much: (facts) => `${server(facts.server)} hat mehr geschickt, als angenommen wird.`,
  chat_not_understood: (facts) => `${server(facts.server)} gab eine Antwort, die nicht zu verstehen ist.`,
  chat_server_not_understood: () => 'Der Server gab eine Antwort, die nicht zu verstehen ist.',
  chat_repeats: () => 'Der Server gibt Nachrichten noch einmal aus, die ihm als gelesen gemeldet wurden.',
  chat_bad_address: (facts) => `${server(facts.server)} hat eine Adresse, die sich nicht öffnen lässt.`,
  chat_not_found: (facts) => `${server(facts.server)} ist nicht zu finden. Ist dieser Rechner online?`,
  chat_connection_refused: (facts) => `${server(facts.server)} weist die Verbindung ab.`,
  chat_unreachable: (facts) => `${server(facts.server)} ist nicht zu erreichen. Ist dieser Rechner online?`,
  chat_not_secure: (facts) => `${server(facts.server)} konnte sich nicht ausweisen (die sichere Verbindung kam nicht zustande).`,
  chat_broken_off: (facts) => `${server(facts.server)} hat die Verbindung abgebrochen.`,
  chat_redirects: (facts) => `${server(facts.server)} schickt uns an eine andere Adresse; mit einem Token wird ihr nicht gefolgt.`,
  chat_given_up: () => 'Es wurde aufgegeben.',
  chat_cannot_keep: () => 'Nachrichten lassen sich gerade nicht aufbewahren.',
  chat_safe_mode: () => 'Deckhand läuft im abgesicherten Modus, in dem kein Kanal verbunden wird.',
  chat_token_gone: () => 'Das Token dieses Kanals ist nicht mehr im Schlüsselbund. Trage es noch einmal ein.',
  chat_no_driver: () => 'Diese Version von Deckhand kann sich mit diesem Dienst nicht verbinden.',
  chat_broken: () => 'In Deckhand ist etwas schiefgegangen. Schalte den Kanal aus und wieder ein.',
  chat_other_account: ({ account }) => `Dieses Token gehört zu ${account}, einem anderen Konto. Verbinde es als eigenen Kanal.`,
  chat_account_taken: ({ account, agentName }) => `${account} ist schon verbunden, mit dem Agenten „${agentName}“.`,
  chat_off: () => 'Der Kanal ist aus. Schalte ihn zuerst ein.',
  chat_nobody: ({ account }) => `Hier bist du noch nicht bekannt. Schreibe an ${account}, und bestätige dich dann in dieser Liste.`,
  sent_answered_before: () => 'Es wurde beantwortet, bevor dies gesendet werden konnte.',
  sent_not_for_a_day: () => 'Der Kanal war einen Tag lang nicht verbunden.',
  sent_channel_removed: () => 'Der Kanal wurde entfernt.',
  sent_not_connected: () => 'Der Kanal ist nicht verbunden.',
  sent_no_answer: () => 'Der Dienst hat fünf Minuten lang nicht geantwortet.',
  sent_no_channel: () => 'Der Agent hat keinen eingeschalteten Kanal.',
  sent_not_on_channel: () => 'Der Agent ist mit dem gewählten Kanal nicht verbunden.',
  sent_no_owner: () => 'Auf dem Kanal hast du dich noch nicht bestätigt. Schreibe dem Agenten dort einmal.',
  sent_withdrawn: () => 'Es sollte nicht mehr gesendet werden.',
  sent_chat_removed: () => 'Der Kanal oder die Unterhaltung wurde entfernt.',
  sent_to_refused: () => 'Die Person ist inzwischen abgewiesen.',
  sent_to_nobody: () => 'Die Person wartet nicht mehr darauf, eingelassen zu werden.',
  sent_to_former_owner: () => 'Die Person ist nicht mehr der Eigentümer.',
  sent_guest_private: () =>
    'Es geht an einen Gast, und der Agent hat unterwegs private Daten gesehen. Lies es, und sende es selbst, wenn es hinausdarf.',
  sent_guest_files: () => 'Es geht an einen Gast, mit Dateien dieses Rechners. Sieh sie an, und sende es selbst, wenn sie hinausdürfen.',
  sent_cannot: () => 'Diese Nachricht lässt sich nicht senden.',

  outside_silent: ({ host, seconds }) =>
    `${host} hat binnen ${number(seconds)} Sekunden nicht geantwortet. Läuft das, was zu diesem Rechner führt?`,
  outside_redirects: ({ host, to }) =>
    `${host} schickt Anfragen weiter an ${to}; Dienste, die Webhooks senden, folgen dem nicht. Trage die Adresse ein, an die es weiterschickt.`,
  outside_cannot_reach_us: ({ host, status, leadsTo }) =>
    `${host} antwortete mit Status ${status}, und hier kam nichts an: Es erreicht diesen Rechner nicht. Es muss zu ${leadsTo} führen.`,
  outside_leads_elsewhere: ({ host, status, leadsTo }) =>
    `${host} antwortete mit Status ${status}, und hier kam nichts an: Es führt woandershin. Es muss zu ${leadsTo} führen.`,
  outside_exposed: ({ url, leadsTo }) =>
    `Jeder im Internet erreicht Deckhand selbst, nicht nur die Webhooks: ${url} führt dorthin. Ändere deinen Tunnel oder Proxy so, dass er zu ${leadsTo} führt und zu keinem anderen Port.`,
  outside_needs_port: () =>
    'Eine öffentliche Adresse braucht den Port nur für Webhooks. Entferne zuerst die Adresse, oder wähle einen anderen Port.',
  outside_name_unknown: ({ host }) =>
    `Der Name ${host} wurde nicht gefunden. Bis ein neuer Name überall bekannt ist, vergehen einige Minuten.`,
  outside_connection_refused: ({ host }) => `Unter ${host} antwortet niemand: Die Verbindung wurde abgewiesen.`,
  outside_unreachable: ({ host }) => `${host} ist von hier nicht zu erreichen.`,
  outside_not_secure: ({ host, reason }) =>
    `Die sichere Verbindung zu ${host} kam nicht zustande (${reason}): Das Zertifikat ist nicht gültig.`,
  outside_failed: ({ host, words }) => `${host} ist nicht zu erreichen: ${words}.`,
  outside_no_address: () => 'Noch gibt es keine öffentliche Adresse, die zu prüfen wäre.',
  outside_fixed: ({ name }) => `Das ist beim Start gesetzt (${name}) und lässt sich hier nicht ändern.`,
  port_taken: ({ port }) => `Port ${port} ist von einem anderen Programm belegt. Wähle für Webhooks einen anderen.`,
  port_not_allowed: ({ port }) => `Port ${port} ist diesem Benutzerkonto nicht erlaubt. Wähle einen über 1023.`,
  port_failed: ({ port, words }) => `Port ${port} lässt sich nicht öffnen: ${words}.`,
  tunnel_needs_port: () => 'Ein Tunnel braucht diesen Port.',
  tunnel_not_installed: ({ program }) => `${program} ist nicht installiert, oder nicht dort, wo Programme üblicherweise liegen.`,
  tunnel_gone: ({ program }) => `${program} ist nicht mehr installiert.`,
  tunnel_no_address: ({ seconds }) => `Binnen ${number(seconds)} Sekunden kam keine Adresse.`,
  tunnel_not_started: ({ program, words }) => `${program} ließ sich nicht starten: ${words}.`,
  tunnel_ended: ({ program, exit }) => `${program} endete mit Code ${exit}.`,
  tunnel_killed: ({ program, signal }) => `${program} wurde durch ${signal} beendet.`,
  tunnel_says: ({ program, words }) => `${program} sagt: ${words}`,
  tunnel_ngrok_token: () => 'ngrok braucht das Authtoken deines Kontos: Führe einmal „ngrok config add-authtoken“ in einem Terminal aus.',
  tunnel_ngrok_twice: () => 'ngrok läuft mit deinem Konto schon anderswo, und erlaubt ist es einmal. Beende das andere.',
  tunnel_ngrok_address: () => 'Die Adresse deines ngrok-Kontos wird von einem anderen Tunnel benutzt. Beende ihn.',
  tunnel_funnel_off: ({ url }) =>
    `Funnel ist in deinem Tailnet nicht eingeschaltet. Schalte es unter ${url} ein und starte den Tunnel neu.`,
  base_not_whole: () => 'Schreibe die ganze Adresse, etwa https://hooks.example.com.',
  base_with_user: () => 'Die Adresse darf weder Benutzernamen noch Passwort enthalten.',
  base_with_query: () => 'Die Adresse muss vor dem Fragezeichen oder der Raute enden.',
  base_with_path: () => 'Lass /webhooks und alles dahinter weg: Das kommt bei jedem Webhook dazu.',

  box_unknown_system: () => 'Dieses System hat keine Sandbox, mit der Deckhand umgehen kann.',
  box_missing: () => 'bubblewrap ist auf diesem Rechner nicht installiert.',
  box_missing_fix: () => 'Installiere bubblewrap: apt install bubblewrap oder dnf install bubblewrap.',
  box_helpers_missing: () => 'Einige Programme, aus denen die Sandbox gebaut wird, fehlen (sh, stat, prlimit, nice).',
  box_helpers_missing_fix: () => 'Installiere coreutils und util-linux.',
  box_old: () => 'Das bubblewrap dieses Rechners ist zu alt.',
  box_old_fix: () => 'Installiere bubblewrap 0.6 oder neuer.',
  box_root: () =>
    'Deckhand läuft hier als root und darf keine Kontrollgruppen anlegen: Nichts hielte ein Programm davon ab, endlos Prozesse zu starten.',
  box_root_fix: () => 'Starte Deckhand als gewöhnlicher Benutzer.',
  box_container_proc: () => 'Dieser Container lässt der Sandbox keine eigene Prozessliste.',
  box_container_proc_fix: () =>
    'Starte den Container mit --security-opt systempaths=unconfined, oder lass Deckhand außerhalb eines Containers laufen.',
  box_broken: ({ words }) => `bubblewrap ist installiert, geht aber nicht: ${words}`,
  box_namespaces_off: () => 'Benutzer-Namensräume sind auf diesem Rechner abgeschaltet.',
  box_namespaces_off_fix: () => 'Schalte sie ein: sysctl -w user.max_user_namespaces=15000',
  box_namespaces_of_root: () => 'Benutzer-Namensräume sind auf diesem Rechner root vorbehalten.',
  box_namespaces_of_root_fix: () => 'Öffne sie für alle: sysctl -w kernel.unprivileged_userns_clone=1',
  box_container: () => 'Dieser Container erlaubt keine Benutzer-Namensräume, aus denen die Sandbox besteht.',
  box_container_fix: () =>
    'Starte den Container mit --security-opt seccomp=unconfined, oder lass Deckhand außerhalb eines Containers laufen.',
  box_apparmor: () => 'AppArmor lässt bubblewrap auf diesem Rechner keine Benutzer-Namensräume anlegen.',
  box_apparmor_fix: () =>
    'Installiere das Profil, das es erlaubt: apt install apparmor-profiles, dann bwrap-userns-restrict einschalten (siehe das Handbuch deines Systems).',
  box_no_namespaces: ({ words }) => `bubblewrap ist installiert, darf aber keine Namensräume anlegen: ${words}`,
  box_seatbelt: ({ words }) => `Die Sandbox von macOS startet nicht: ${words}`,
  box_none_no_network: () => 'Ohne Sandbox gibt es kein eigenes Netz.',
  box_no_python: () => 'Ein Programm in der Sandbox hat kein Netz: Was seine Verbindungen weiterträgt, braucht Python.',
  box_no_python_fix: () => 'Installiere Python: apt install python3 oder dnf install python3.',

  model_no_credit: ({ provider }) =>
    `${provider} sagt, das Konto habe kein Guthaben mehr. Lade es dort auf, oder wähle ein anderes Modell.`,
  model_asks_for_key: ({ provider }) => `${provider} verlangt einen Schlüssel. Trage ihn unter ${KEYS} ein.`,
  model_key_refused: ({ provider }) => `${provider} nimmt den Schlüssel nicht an. Prüfe ihn unter ${KEYS}.`,
  model_unknown: ({ provider, model }) => `${provider} hat kein Modell „${model}“. Wähle in den Einstellungen des Agenten ein anderes.`,
  model_slow_down: ({ provider }) => `${provider} bittet um eine Pause (zu viele Anfragen).`,
  model_slow_down_says: ({ provider, words }) => `${provider} bittet um eine Pause (zu viele Anfragen): „${words}“.`,
  model_overloaded: ({ provider, status }) => `${provider} ist gerade überlastet (${status}).`,
  model_overloaded_says: ({ provider, status, words }) => `${provider} ist gerade überlastet (${status}): „${words}“.`,
  model_late: ({ provider, status }) => `${provider} hat nicht rechtzeitig geantwortet (${status}).`,
  model_late_says: ({ provider, status, words }) => `${provider} hat nicht rechtzeitig geantwortet (${status}): „${words}“.`,
  model_ill: ({ provider, status }) => `${provider} hat selbst eine Störung (${status}).`,
  model_ill_says: ({ provider, status, words }) => `${provider} hat selbst eine Störung (${status}): „${words}“.`,
  model_cannot: ({ provider, status }) => `${provider} kann nicht, was verlangt wurde (${status}).`,
  model_cannot_says: ({ provider, status, words }) => `${provider} kann nicht, was verlangt wurde (${status}): „${words}“.`,
  model_too_many_calls: ({ provider, calls }) => `${provider} wollte in einer Antwort mehr als ${calls} Werkzeuge aufrufen.`,
  model_no_memory: ({ provider, model }) =>
    `${provider} hat nicht genug Speicher für ${model}. Schließe andere Programme, oder wähle ein kleineres Modell.`,
  model_not_now: ({ provider, status }) => `${provider} konnte die Anfrage gerade nicht annehmen (${status}).`,
  model_moved: ({ provider }) => `${provider} schickt uns an eine andere Adresse. Prüfe die Basis-URL unter ${KEYS}.`,
  model_not_accepted: ({ provider, status }) => `${provider} hat die Anfrage nicht angenommen (${status}).`,
  model_not_accepted_says: ({ provider, status, words }) => `${provider} hat die Anfrage nicht angenommen (${status}): „${words}“.`,
  model_stopped: ({ provider }) => `${provider} brach mit einem Fehler ab.`,
  model_stopped_says: ({ provider, words }) => `${provider} brach mit einem Fehler ab: „${words}“.`,
  model_unreadable: ({ provider }) => `${provider} hat eine Antwort geschickt, die nicht zu lesen ist.`,
  model_no_server: ({ provider }) => `Unter der Adresse von ${provider} antwortet niemand. Läuft der Server?`,
  model_name_unknown: ({ provider }) =>
    `Der Rechnername von ${provider} wurde nicht gefunden. Prüfe die Internetverbindung und die Basis-URL unter ${KEYS}.`,
  model_server_away: ({ provider }) => `${provider} ist nicht zu erreichen. Läuft der Server?`,
  model_offline: ({ provider }) => `${provider} ist nicht zu erreichen. Prüfe die Internetverbindung.`,
  model_not_secure: ({ provider, reason }) =>
    `Die sichere Verbindung zu ${provider} kam nicht zustande (${reason}). Prüfe die Basis-URL unter ${KEYS}.`,
  model_lost: ({ provider }) => `Die Verbindung zu ${provider} ging verloren.`,
  model_broke_off: ({ provider }) => `Die Antwort von ${provider} brach vor ihrem Ende ab.`,
  model_silent: ({ provider, seconds }) => `${provider} verstummte mitten in der Antwort (${number(seconds)} s ohne ein Wort).`,
  model_no_beginning: ({ provider, seconds }) => `${provider} hat binnen ${number(seconds)} s nicht zu antworten begonnen.`,
  model_still_loading: ({ provider, seconds }) =>
    `${provider} hat binnen ${number(seconds)} s nicht zu antworten begonnen. Vielleicht wird ein großes Modell noch geladen.`,
  model_no_address: ({ provider }) => `${provider} hat keine Adresse. Trage die Basis-URL unter ${KEYS} ein.`,
  model_no_key: ({ provider }) => `${provider} hat noch keinen Schlüssel. Trage ihn unter ${KEYS} ein.`,
  model_key_gone: ({ provider }) =>
    `Der Schlüssel von ${provider} fehlt im Schlüsselbund, deshalb wurde nichts gesendet. Trage ihn unter ${KEYS} neu ein.`,
  model_odd_key: ({ provider }) =>
    `Im Schlüssel von ${provider} stehen Zeichen, die kein Schlüssel hat. Füge ihn unter ${KEYS} noch einmal ein.`,
  model_no_list: ({ provider }) => `${provider} hat unter dieser Adresse keine Liste von Modellen. Prüfe die Basis-URL unter ${KEYS}.`,
  model_list_late: ({ provider, seconds }) => `${provider} hat binnen ${number(seconds)} s keine Liste seiner Modelle geschickt.`,
  model_list_unreadable: ({ provider }) =>
    `${provider} hat eine Liste von Modellen geschickt, die nicht zu lesen ist. Prüfe die Basis-URL unter ${KEYS}.`,
  model_no_model_server: ({ provider }) =>
    `${provider} antwortete mit einer Webseite statt wie ein Modell. Prüfe die Basis-URL unter ${KEYS}.`,
  model_refused_access: ({ provider }) => `${provider} hat den Zugriff verweigert. Prüfe den Schlüssel unter ${KEYS}.`,
  model_refused_access_says: ({ provider, words }) =>
    `${provider} hat den Zugriff verweigert: „${words}“. Prüfe den Schlüssel unter ${KEYS}.`,
  model_too_long: ({ provider, model }) =>
    `Die Unterhaltung ist zu lang für ${model} bei ${provider}. Beginne eine neue, oder wähle ein Modell, das mehr fasst.`,
  model_not_pulled: ({ provider, model, command }) =>
    `${provider} hat kein Modell „${model}“. Hole es mit „${command}“, oder wähle ein installiertes.`,
  model_against_rules: ({ provider }) => `${provider} hat diese Anfrage wegen seiner Inhaltsregeln abgelehnt.`,
  model_against_rules_says: ({ provider, words }) => `${provider} hat diese Anfrage wegen seiner Inhaltsregeln abgelehnt: „${words}“.`,
  model_bad_address: ({ provider, words }) =>
    `Die Adresse von ${provider} ist nicht zu benutzen: ${words}. Prüfe die Basis-URL unter ${KEYS}.`,
  model_odd_server: ({ provider, words }) =>
    `${provider} hat nicht wie ein Modellserver geantwortet: ${words}. Prüfe die Basis-URL unter ${KEYS}.`,
  model_wrong_place: ({ provider, words }) =>
    `${provider} ist unter dieser Adresse nicht zu benutzen: ${words}. Prüfe die Basis-URL unter ${KEYS}.`,
  model_wrong_answer: ({ provider, type }) =>
    `${provider} antwortete mit „${type}“ statt wie ein Modell. Prüfe die Basis-URL unter ${KEYS}.`,
  model_endless: ({ provider }) => `${provider} hat eine Antwort ohne Ende geschickt.`,
  model_key_unreadable: ({ words }) => `Der Schlüssel für das Modell dieses Agenten lässt sich nicht lesen: ${words}`,
  model_provider_gone: () =>
    'Der Anbieter des Modells dieses Agenten wurde entfernt. Wähle in den Einstellungen des Agenten ein anderes Modell.',

  job_tries: ({ tries }) => `(${number(tries)} Versuche)`,
  job_turns: ({ turns }) => `Der Auftrag erreichte seine Grenze von ${number(turns)} Modellaufrufen.`,
  job_tool_calls: ({ calls }) => `Der Auftrag erreichte seine Grenze von ${number(calls)} Werkzeugaufrufen.`,
  job_cost: ({ limitUsd }) => `Der Auftrag erreichte seine Grenze von ${usd(limitUsd)}.`,
  spent_job_refused: ({ limitUsd }) => `Der Auftrag erreichte seine Grenze von ${usd(limitUsd)}, und mehr darf es nicht sein.`,
  spent_job_silent: ({ limitUsd }) => `Der Auftrag erreichte seine Grenze von ${usd(limitUsd)}, und niemand sagte, ob es mehr sein darf.`,
  spent_agent_day_refused: ({ limitUsd }) => `Der Agent erreichte seine Tagesgrenze von ${usd(limitUsd)}, und mehr darf es nicht sein.`,
  spent_agent_day_silent: ({ limitUsd }) =>
    `Der Agent erreichte seine Tagesgrenze von ${usd(limitUsd)}, und niemand sagte, ob es mehr sein darf.`,
  spent_agent_month_refused: ({ limitUsd }) => `Der Agent erreichte seine Monatsgrenze von ${usd(limitUsd)}, und mehr darf es nicht sein.`,
  spent_agent_month_silent: ({ limitUsd }) =>
    `Der Agent erreichte seine Monatsgrenze von ${usd(limitUsd)}, und niemand sagte, ob es mehr sein darf.`,
  spent_app_day_refused: ({ limitUsd }) =>
    `Alle Agenten zusammen erreichten die Tagesgrenze von ${usd(limitUsd)}, und mehr darf es nicht sein.`,
  spent_app_day_silent: ({ limitUsd }) =>
    `Alle Agenten zusammen erreichten die Tagesgrenze von ${usd(limitUsd)}, und niemand sagte, ob es mehr sein darf.`,
  job_broken: () => 'In Deckhand ist etwas schiefgegangen. Das Protokoll hat die Einzelheiten.',
  job_second: () => 'Der Auftrag erreichte seine Grenze von 1 Sekunde Arbeitszeit.',
  job_seconds: ({ seconds }) => `Der Auftrag erreichte seine Grenze von ${number(seconds)} Sekunden Arbeitszeit.`,
  job_minutes: ({ minutes }) => `Der Auftrag erreichte seine Grenze von ${number(minutes)} Minuten Arbeitszeit.`,
  job_hours: ({ hours }) => `Der Auftrag erreichte seine Grenze von ${number(hours)} Stunden Arbeitszeit.`,
  job_only_thought: () =>
    'Das Modell hat die ganze Länge seiner Antwort zum Nachdenken verbraucht. Versuche es noch einmal, oder wähle ein anderes.',
  job_nothing_said: () => 'Das Modell hat zweimal nichts geantwortet. Versuche es noch einmal, oder wähle ein anderes.',
  job_shortened: ({ messages }) => `Ältere Nachrichten, die das Modell jetzt nicht liest, um Platz zu sparen: ${number(messages)}.`,
  job_too_long: ({ model, provider, instructions, tools, task, rest }) =>
    `Dieser Auftrag ist zu lang für ${model} bei ${provider}, und mehr lässt sich nicht weglassen. Etwa ${number(instructions)} Token sind Anweisungen, ${number(tools)} Werkzeuge, ${number(task)} die Aufgabe und ${number(rest)} die neuesten Schritte. Kürze das Längste davon, oder wähle ein Modell, das mehr fasst.`,
  job_filtered: () =>
    'Der Inhaltsfilter des Anbieters hat die Antwort angehalten. Stelle die Aufgabe mit anderen Worten, oder wähle ein anderes Modell.',
  job_crashed: () =>
    'Die App hielt zweimal an, während dieser Auftrag lief und nicht weiterkam; darum wurde er nicht noch einmal begonnen.',
  job_silent: ({ minutes }) => `Von diesem Auftrag war ${number(minutes)} Minuten lang nichts zu hören.`,
  job_agent_gone: () => 'Der Agent dieses Auftrags wurde gelöscht.',
  job_no_model: ({ agentName }) => `${agentName} hat kein Modell, und es gibt kein Standardmodell. Wähle eines in den Einstellungen.`,

  path_no_folders: () => 'Dieser Agent hat keine Ordner. In seinen Einstellungen kannst du ihm welche geben.',
  path_nul: () => 'In einem Pfad darf kein NUL-Zeichen stehen.',
  path_unknown_folder: ({ path }) => `„${path}“ beginnt nicht mit dem Namen eines Ordners.`,
  path_outside: ({ path }) => `„${path}“ liegt außerhalb der Ordner des Agenten.`,
  path_folders_are: ({ words }) => `Die Ordner sind: ${words}.`,
  path_leads_out: ({ path }) => `„${path}“ führt aus den Ordnern des Agenten hinaus.`,
  path_leads_elsewhere: ({ path, folder }) => `„${path}“ führt aus dem Ordner „${folder}“ hinaus, oder nirgendwohin.`,
  path_is_ours: ({ path }) => `„${path}“ gehört Deckhand selbst und ist Agenten verschlossen.`,
  path_is_secret: ({ path }) => `„${path}“ enthält Schlüssel oder Passwörter und ist Agenten verschlossen.`,
  path_folder_protected: ({ folder, path }) =>
    `Der Ordner „${folder}“ liegt in ${path}; dort laufen Dateien von selbst, oder es sind Schlüssel darin. Agenten können dort nicht arbeiten.`,
  path_missing: ({ name, folder }) => `In „${folder}“ gibt es „${name}“ nicht.`,
  path_nothing_there: () => 'Dort ist nichts.',
  path_entries: ({ words }) => `Dort gibt es: ${words}.`,
  path_is_file: ({ path }) => `„${path}“ ist eine Datei und kein Ordner.`,
  path_read_it: () => 'read_file liest sie.',
  path_is_folder: ({ path }) => `„${path}“ ist ein Ordner und keine Datei.`,
  path_list_it: () => 'list_files zeigt, was darin ist.',
  path_names_folder: ({ path }) => `„${path}“ ist ein Ordner; eine Datei darin muss genannt werden.`,
  path_is_link: ({ path }) => `„${path}“ ist ein Verweis und bleibt, wie er ist; genannt werden muss die Datei, zu der er führt.`,
  path_in_a_circle: ({ path }) => `„${path}“ ist ein Verweis, der im Kreis führt, oder wurde beim Öffnen geändert.`,
  path_moved: ({ path }) => `„${path}“ wurde beim Öffnen geändert. Ein neuer Versuch hilft.`,
  path_not_readable: ({ path }) => `„${path}“ darf Deckhand nicht lesen (keine Berechtigung).`,
  path_not_writable: ({ path }) => `„${path}“ darf Deckhand nicht ändern (keine Berechtigung).`,
  path_read_only: ({ path }) => `„${path}“ liegt auf einem Datenträger, der sich nur lesen lässt.`,
  path_no_room: ({ path }) => `Auf dem Datenträger von „${path}“ ist kein Platz mehr. Nichts wurde geändert.`,
  path_taken: ({ path }) => `Unter „${path}“ gibt es schon etwas; es braucht einen anderen Namen, oder es wird zuerst gelöscht.`,
  path_changed_meanwhile: ({ path }) => `„${path}“ wurde gerade von anderswo geändert und muss noch einmal angesehen werden.`,
  path_no_such_folder: ({ name, folder }) => `In „${folder}“ gibt es keinen Ordner „${name}“. Mit makeFolders wird er angelegt.`,
  path_no_such_file: ({ path }) => `Die Datei „${path}“ gibt es nicht.`,
  path_names_no_file: () => 'Eine Datei muss genannt werden. list_files zeigt, welche es gibt.',
  path_same_place: ({ path }) => `Unter „${path}“ liegt die Datei schon.`,
  path_folder_gone: ({ folder, path }) => `Den Ordner „${folder}“ (${path}) gibt es nicht mehr.`,
  path_folder_is_none: ({ folder, path }) => `„${folder}“ (${path}) ist kein Ordner mehr.`,
  path_folder_closed: ({ folder, path }) => `Den Ordner „${folder}“ (${path}) darf Deckhand nicht öffnen.`,
  path_not_opened: ({ path, words }) => `„${path}“ lässt sich nicht öffnen: ${words}.`,
  path_not_changed: ({ path, words }) => `„${path}“ lässt sich nicht ändern: ${words}.`,
  edit_same: () => 'Nichts geändert: Der neue Text ist derselbe wie der alte.',
  edit_not_found: ({ path }) => `Nichts geändert: Der Text kommt in „${path}“ nicht vor. Vielleicht wurde die Datei inzwischen geändert.`,
  edit_spaces: ({ path }) =>
    `Nichts geändert: Der Text kommt in „${path}“ so nicht vor, nur mit anderen Leerzeichen oder Zeilenumbrüchen. Er muss genau stimmen.`,
  edit_many: ({ times, path, words }) =>
    `Nichts geändert: Der Text kommt in „${path}“ ${number(times)}-mal vor (Zeilen ${words}); welche Stelle gemeint ist, ist nicht klar.`,
  program_missing: ({ program, words }) => `Das Programm „${program}“ gibt es auf diesem Rechner nicht (gesucht in ${words}).`,
  program_is_here: ({ program }) => `Im Ordner selbst liegt eines: Es heißt „${program}“.`,
  program_with_words: () => 'Jedes Argument muss für sich stehen.',
  program_elsewhere: ({ program, words }) => `„${program}“ liegt weder im Ordner noch in ${words} und wird nicht gestartet.`,
  program_none: ({ program }) => `„${program}“ gibt es nicht, oder es ist kein Programm, das gestartet werden darf.`,
  call_arguments: ({ tool }) => `Nicht ausgeführt: Die Argumente passen nicht zu ${tool}.`,
  call_no_tool: ({ tool }) => `Nicht ausgeführt: Ein Werkzeug „${tool}“ gibt es nicht.`,
  call_tools_are: ({ words }) => `Die Werkzeuge sind: ${words}.`,
  call_no_tools: () => 'Dieser Auftrag hat keine Werkzeuge.',
  call_stopped: () => 'Nicht ausgeführt: Der Auftrag wurde vorher angehalten.',
  call_in_doubt: ({ tool }) =>
    `Der Ausgang ist ungewiss: ${tool} war begonnen, als die App anhielt, und nichts sagt, ob es geschehen ist. Es wurde nicht noch einmal ausgeführt.`,

  ours_disk_full: () => 'Die Festplatte ist voll; nichts lässt sich sichern. Schaffe Platz, und versuche es noch einmal.',
  ours_database: () => 'Die Datenbank ist gerade nicht zu benutzen.',
  ours_broken: () => 'In Deckhand ist etwas schiefgegangen.',

  keychain_silent: () => 'Der Schlüsselbund hat nicht geantwortet. Entsperre ihn und versuche es noch einmal.',
  keychain_unusable: () => 'Der Schlüsselbund ist gerade nicht zu benutzen.',
  search_needs_address: () => 'SearXNG braucht die Adresse einer Instanz.',
  search_needs_key: ({ provider }) => `${provider} braucht einen API-Schlüssel.`,
  search_bad_address: ({ provider }) => `${provider} braucht eine ganze Adresse, etwa http://localhost:8888.`,
  host_unreadable: ({ host }) =>
    `„${host}“ ist weder ein Rechnername, noch einer mit Port, noch ein Bereich von Adressen wie 192.168.1.0/24.`,
  server_address: () => 'Eine Adresse mit http oder https, ohne Fragezeichen.',
  folder_relative: () => 'Gib den ganzen Pfad an, von der Wurzel der Platte an.',
  folder_not_absolute: () => 'Gib den Ordner als ganzen Pfad an.',
  folder_is_file: () => 'Das ist eine Datei. Wähle den Ordner, in dem sie liegt.',
  folder_is_ours: () => 'Das ist der Datenordner von Deckhand selbst. Agenten bekommen ihn nie.',
  folder_holds_ours: () => 'In diesem Ordner liegen die Daten von Deckhand selbst. Wähle einen darunter, der sie nicht enthält.',
  folder_protected: ({ path }) =>
    `Dieser Ordner liegt in ${path}; dort laufen Dateien von selbst, oder es sind Schlüssel darin. Wähle einen Ordner außerhalb.`,
  folder_forbidden: () => 'Diesen Ordner darfst du nicht lesen.',
  folder_missing: () => 'Diesen Ordner gibt es nicht.',
  folder_unusable: () => 'Dieser Ordner ist nicht zu benutzen.',
  slug_shape: () => 'Kleinbuchstaben, Ziffern und Bindestriche, höchstens 64, kein Bindestrich am Anfang oder Ende.',
  slug_taken: ({ slug }) => `Ein anderer Webhook hat „${slug}“ in seiner Adresse. Wähle ein anderes Wort.`,
  payload_not_json: () => 'Der Inhalt ist kein gültiges JSON.',
  approved_already: () => 'Das ist schon freigegeben.',
  rejected_already: () => 'Das ist schon abgelehnt.',
  approval_withdrawn: () => 'Der Auftrag ist zu Ende; es gibt nichts mehr zu beantworten.',
  answer_missing: () => 'Eine Frage braucht eine Antwort.',
  undone_already: () => 'Das ist schon rückgängig gemacht.',
  undo_nothing: ({ path }) => `Für ${path} gibt es nichts zurückzuholen.`,
  undo_too_large: ({ path }) => `Was in ${path} stand, war zu groß, um aufbewahrt zu werden.`,
  undo_not_kept: ({ path }) => `Was in ${path} stand, wurde nicht aufbewahrt.`,
  file_changed: ({ path }) => `${path} wurde nach dem Auftrag noch geändert. Das ginge dabei verloren.`,
  provider_of_agent: ({ agentName }) => `Der Agent „${agentName}“ benutzt diesen Anbieter. Wähle für ihn zuerst ein anderes Modell.`,
  provider_of_default: () => 'Das Standardmodell gehört zu diesem Anbieter. Wähle zuerst ein anderes.',
  arguments_refused: ({ tool }) => `Diese Argumente nimmt ${tool} nicht.`,
}

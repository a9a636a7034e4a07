import { CONNECTOR_FILES } from '../../../resources/connectors/connector-files.ts'
import { Connector } from '../../contract/connectors.ts'

/** The limit of an account's name. */
const MAX_NAME_CHARS = 120

let known: Connector[] | null = null

/** The services of the catalogue by name, the general ones last. */
export function listConnectors(): Connector[] {
  // Parsed at the first use, which fills in the defaults. A test parses every file.
  known ??= CONNECTOR_FILES.map((file) => Connector.parse(file))
  return known
}

export function findConnector(slug: string): Connector | null {
  return listConnectors().find((connector) => connector.slug === slug) ?? null
}

/** Whether the person names its hosts. */
export function isGeneral({ hosts }: Pick<Connector, 'hosts'>): boolean {
  return hosts.length === 0
}

/** What an account is called unless the person says. The general connectors have names of no service. */
export function nameFor(connector: Pick<Connector, 'name' | 'hosts'>, hosts: readonly string[]): string {
  return isGeneral(connector) ? (hosts[0]?.slice(0, MAX_NAME_CHARS) ?? connector.name) : connector.name
}

/** The values of the fields that are a whole host, from the hosts of an account. */
export function fieldsOfHosts({ hosts: templates }: Pick<Connector, 'hosts'>, hosts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    templates.flatMap((template, index) => {
      const name = /^\{(\w+)\}$/.exec(template)?.[1]
      return name === undefined || hosts[index] === undefined ? [] : [[name, hosts[index]]]
    }),
  )
}

/** `https://{domain}/api` with the fields filled in. A field that is not given keeps its preset. */
export function fillIn(text: string, connector: Pick<Connector, 'fields'>, given: Readonly<Record<string, string>>): string {
  return connector.fields.reduce((filled, { name, preset }) => filled.replaceAll(`{${name}}`, () => given[name] ?? preset), text)
}

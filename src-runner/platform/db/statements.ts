import type Sqlite from 'better-sqlite3'
import { Column, eq, is, Param, Placeholder, type DriverValueDecoder, type GetColumnData, type SQL } from 'drizzle-orm'
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'

export type Statement<Row> = Sqlite.Statement<unknown[], Row>

type Builder = BetterSQLite3Database<Record<string, never>>

/** drizzle's query builder for reads. What it builds runs with `get()` or `all()`. */
export type Reads = Pick<Builder, 'select' | 'selectDistinct'>

/** Writes run with `run()`, or with `get()` or `all()` after `returning()`. */
export type Writes = Reads & Pick<Builder, 'insert' | 'update' | 'delete'>

export type Statements = Writes & {
  prepare<Row = unknown>(sql: string): Statement<Row>
  /** Calls back with the SQL of every statement that is used, until the next call. For tests. */
  listen(listener: ((sql: string) => void) | null): void
  clear(): void
}

/**
 * With STAT4, SQLite plans a statement again for each value that is compared with an indexed column (sqlite.org/c3ref/prepare.html).
 * That takes ten times as long as most statements. A plus sign hides the value from the planner and does not change it
 * (sqlite.org/lang_expr.html#operators).
 */
export function pinQueryPlan(sql: string): string {
  return sql.replace(/([=<>]|\b(?:IS|BETWEEN|AND|LIMIT|OFFSET))\s*\?/gi, '$1 +?')
}

/** Every statement of a connection, prepared once for each SQL text, with its plan pinned. All calls run through `watch`. */
export function createStatements(connection: Sqlite.Database, watch: <T>(work: () => T) => T): Statements {
  let listener: ((sql: string) => void) | null = null
  const createCache = (shape: (statement: Statement<unknown>) => Statement<unknown>) => {
    const statements = new Map<string, Statement<unknown>>()
    return {
      statements,
      prepare(sql: string): Statement<unknown> {
        listener?.(sql)
        let statement = statements.get(sql)
        if (statement === undefined) {
          statement = watch(() => shape(connection.prepare<unknown[], unknown>(pinQueryPlan(sql))))
          for (const name of ['get', 'all', 'run'] as const) {
            const run = statement[name].bind(statement)
            Object.assign(statement, { [name]: (...values: unknown[]) => watch(() => run(...values)) })
          }
          statements.set(sql, statement)
        }
        return statement
      },
    }
  }
  const plain = createCache((statement) => statement)
  // drizzle reads rows as arrays and switches a statement to them permanently, so it gets separate statements.
  const raw = createCache((statement) => statement.raw())
  const client = {
    prepare: (sql: string) => ({
      run: (...values: unknown[]) => plain.prepare(sql).run(...values),
      get: (...values: unknown[]) => plain.prepare(sql).get(...values),
      all: (...values: unknown[]) => plain.prepare(sql).all(...values),
      raw: () => raw.prepare(sql),
    }),
  }
  const builder = drizzle<Record<string, never>>(client as unknown as Sqlite.Database)
  return {
    prepare: <Row>(sql: string) => plain.prepare(sql) as Statement<Row>,
    select: builder.select.bind(builder),
    selectDistinct: builder.selectDistinct.bind(builder),
    insert: builder.insert.bind(builder),
    update: builder.update.bind(builder),
    delete: builder.delete.bind(builder),
    listen(next) {
      listener = next
    },
    clear() {
      plain.statements.clear()
      raw.statements.clear()
    },
  }
}

/** A filter of a list. Without a value it holds for every row. */
export function filterBy<Given extends Column>(column: Given, value: GetColumnData<Given, 'raw'> | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value)
}

/** A statement that runs often: the query builder builds it once for each database. `db` is the database or a transaction. */
export function prepareOnce<Source extends Pick<Statements, 'prepare'>, Prepared>(
  build: (db: Source) => { prepare(): Prepared },
): (db: Source) => Prepared {
  const prepared = new WeakMap<object, Prepared>()
  return (db) => {
    let found = prepared.get(db.prepare)
    if (found === undefined) prepared.set(db.prepare, (found = compile(build(db).prepare())))
    return found
  }
}

type Built = {
  stmt: { run(...values: unknown[]): unknown; raw(): Statement<unknown[]> }
  query: { params: unknown[] }
  fields?: { path: string[]; field: Column | { decoder: DriverValueDecoder<unknown, unknown> } }[]
}
type Values = Record<string, unknown>

/**
 * Decides once how to convert each value. drizzle decides it for each value of each row, which makes reading a job twice as slow.
 * drizzle also stores a placeholder that is null as 0 in a flag and as text in JSON. Here null is NULL.
 */
function compile<Prepared>(prepared: Prepared): Prepared {
  const { stmt, query, fields } = prepared as unknown as Built
  const binders = query.params.map(binderOf)
  const bind = (values: Values = {}) => binders.map((valueOf) => valueOf(values))
  if (fields === undefined) return { run: (values?: Values) => stmt.run(...bind(values)) } as Prepared
  const decode = decoderOf(fields)
  return {
    get(values?: Values) {
      const row = stmt.raw().get(...bind(values))
      return row && decode(row)
    },
    all: (values?: Values) =>
      stmt
        .raw()
        .all(...bind(values))
        .map(decode),
  } as Prepared
}

function binderOf(param: unknown): (values: Values) => unknown {
  if (is(param, Placeholder)) return (values) => values[param.name]
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { encoder, value } = param
  return (values) => (values[value.name] === null ? null : encoder.mapToDriverValue(values[value.name]))
}

/** Supports neither outer joins, where drizzle turns a table without a row into null, nor expressions with an alias. */
function decoderOf(fields: NonNullable<Built['fields']>): (row: unknown[]) => Values {
  const steps = fields.map(({ path, field }) => {
    const decoder = is(field, Column) ? field : field.decoder
    const isPlain = decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue
    return { parents: path.slice(0, -1), name: path.at(-1)!, decoder: isPlain ? null : decoder }
  })
  // A copy keeps its hidden class. V8 makes a slow dictionary of an object that gets more than 16 properties one by one.
  const empty = JSON.parse(JSON.stringify(Object.fromEntries(fields.map(({ path }) => [path[0], null])))) as Values
  return (row) => {
    const decoded = { ...empty }
    for (let i = 0; i < steps.length; i++) {
      const { parents, name, decoder } = steps[i]!
      const value = row[i]
      let target = decoded
      for (const parent of parents) target = (target[parent] ??= {}) as Values
      target[name] = value === null || decoder === null ? value : decoder.mapFromDriverValue(value)
    }
    return decoded
  }
}

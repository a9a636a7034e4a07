import { sql } from 'drizzle-orm'
import { check, customType, index, integer, SQLiteColumn, text, uniqueIndex, type CheckBuilder } from 'drizzle-orm/sqlite-core'
import type { z } from 'zod'
import { toMicros, toUsd } from '../../lib/micros.ts'

type OwnType<Data, Driver> = { data: Data; driverData: Driver; config: { check?: (column: string) => string } }

/** A boolean, stored as 0 or 1. */
export const flag = (name: string) => integer(name, { mode: 'boolean' })

/** A moment in epoch milliseconds. */
export const moment = (name: string) => integer(name)

/** An integer from 0. */
export const count = (name: string) => nonNegative(name, { check: (column) => `${column} >= 0` })

/** An amount in micro-dollars. */
export const micros = (name: string) => integer(name)

/** An amount that is dollars in code and micro-dollars in the database. */
export const usd = customType<OwnType<number, number>>({ dataType: () => 'integer', fromDriver: toUsd, toDriver: toMicros })

/** One of these words. */
export const oneOf = <const Word extends string>(name: string, words: readonly Word[]) =>
  text(name, { enum: words as unknown as [Word, ...Word[]] })

/** JSON text. The schema parses what is read, so a value that does not fit throws. */
export const json = <Shape extends z.ZodType>(name: string, shape: Shape) => jsonText(name, shape)
export const jsonObject = <Shape extends z.ZodType>(name: string, shape: Shape) => jsonText(name, shape, 'object')
export const jsonArray = <Shape extends z.ZodType>(name: string, shape: Shape) => jsonText(name, shape, 'array')

type Actions = { onDelete: 'cascade' }
type Target = () => SQLiteColumn

/** An id that every row has and that refers to another table. */
export const idOf = (name: string, target: Target, actions?: Actions) => text(name).notNull().references(target, actions)
/** The same for a seq. */
export const seqOf = (name: string, target: Target, actions?: Actions) => integer(name).notNull().references(target, actions)

type Columns = [SQLiteColumn, ...SQLiteColumn[]]

/** An index of the rows that meet a condition. A query uses it only if it repeats the condition as SQL text. */
export const indexWhere = (name: string, columns: Columns, condition: string) =>
  index(name)
    .on(...columns)
    .where(sql.raw(condition))
export const uniqueWhere = (name: string, columns: Columns, condition: string) =>
  uniqueIndex(name)
    .on(...columns)
    .where(sql.raw(condition))

/** Text that is compared case-insensitively. */
export const caselessText = customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE NOCASE' })

const nonNegative = customType<OwnType<number, number>>({ dataType: () => 'integer' })

function jsonText<Shape extends z.ZodType>(name: string, shape: Shape, type?: 'object' | 'array') {
  return customType<OwnType<z.infer<Shape>, string>>({
    dataType: () => 'text',
    fromDriver: (value) => shape.parse(JSON.parse(value)),
    toDriver: (value) => JSON.stringify(value),
  })(name, { check: type && ((column) => `json_type(${column}) = '${type}'`) })
}

/** The CHECKs that the types of these columns imply, and `more`. The name of a CHECK is its condition, which SQLite's error shows. */
export function checks(columns: Record<string, SQLiteColumn>, ...more: string[]): CheckBuilder[] {
  const implied = Object.values(columns).flatMap((column) => impliedCheckOf(column) ?? [])
  return [...implied, ...more].map((condition) => check(condition, sql.raw(condition)))
}

function impliedCheckOf(column: SQLiteColumn): string | null {
  const { name } = column
  // For an IN with more than two values SQLite would fill a temporary table for each row.
  if (column.enumValues !== undefined) return column.enumValues.map((word) => `${name} = '${word}'`).join(' OR ')
  if (column.columnType === 'SQLiteBoolean') return `${name} IN (0, 1)`
  const { fieldConfig } = column['config'] as unknown as { fieldConfig?: OwnType<unknown, unknown>['config'] }
  return fieldConfig?.check?.(name) ?? null
}

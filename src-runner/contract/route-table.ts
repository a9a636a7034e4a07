import { entriesOf } from './routes/route.ts'
import { ROUTES } from './routes.ts'

/**
 * The routes of the runner without their schemas, for the page and the dashboard. A bundle holds this table as data
 * (`build/data-modules.ts`).
 */
export const ROUTE_TABLE = entriesOf(ROUTES)

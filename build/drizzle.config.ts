import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src-runner/domain/*/*-table.ts', './src-runner/platform/db/*-table.ts'],
  out: './build/drizzle',
})

import { askPerson } from './ask-person/ask-person.ts'
import { delegate } from './delegate/delegate.ts'
import { listFiles } from './list-files/list-files.ts'
import { readFile } from './read-file/read-file.ts'
import { returnResult } from './return-result/return-result.ts'
import { searchFiles } from './search-files/search-files.ts'
import type { Tool } from './tool.ts'

/** Every tool there is: one line each. The order is the one models see; a new tool goes to the end, for their caches. */
export const ALL_TOOLS: readonly Tool[] = [
  listFiles, // what is there
  readFile, // what is in it
  searchFiles, // where something is
  askPerson, // what only the person knows
  delegate, // what another agent can do
  returnResult, // what comes out
]
